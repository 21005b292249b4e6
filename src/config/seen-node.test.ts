import { describe, expect, it } from 'vitest';
import type { NodeFacts } from './configuration.ts';
import { fillPlaceholders } from './node-groups.ts';
import { NodeSight } from './seen-node.ts';
import { parseSelector, selects } from './selector.ts';

const FACTS: NodeFacts = {
  name: 'a',
  providerID: 'aws:///z/i-1',
  systemUUID: 'u',
  labels: Object.freeze({ bmc: '192.0.2.1', rack: 'r1' }),
  annotations: Object.freeze({ note: 'x' }),
  addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
};

function holdsAfter(look: (facts: NodeFacts) => unknown, changed: Partial<NodeFacts>): boolean {
  return new NodeSight().through(FACTS, look).seen.isSameIn({ ...FACTS, ...changed });
}

describe('what was looked at of a Node', () => {
  const fill = (text: string) => (facts: NodeFacts) => fillPlaceholders(text, facts).value;
  const select = (text: string) => (facts: NodeFacts) => selects(parseSelector(text) ?? [], facts.labels);

  it('is found as it stands', () => {
    expect(new NodeSight().through(FACTS, fill('{label:bmc} {annotation:note} {label:none} {node}')).found).toBe('192.0.2.1 x {label:none} a');
    expect(new NodeSight().through(FACTS, select('rack in (r1),!none')).found).toBe(true);
  });

  it('is the same when another label or annotation came, went or changed', () => {
    const look = fill('{label:bmc}');
    expect(holdsAfter(look, { labels: { ...FACTS.labels, rack: 'r2', more: 'y' } })).toBe(true);
    expect(holdsAfter(look, { labels: { bmc: '192.0.2.1' }, annotations: {} })).toBe(true);
  });

  it.each([
    ['a label that was filled in', fill('{label:bmc}'), { labels: { ...FACTS.labels, bmc: '192.0.2.2' } }],
    ['a label that went', fill('{label:bmc}'), { labels: { rack: 'r1' } }],
    ['a label that was missing', fill('{label:none}'), { labels: { ...FACTS.labels, none: '' } }],
    ['a label that was selected by', select('rack in (r1)'), { labels: { ...FACTS.labels, rack: 'r2' } }],
    ['a label that was asked for', select('!none'), { labels: { ...FACTS.labels, none: 'y' } }],
    ['an annotation that was filled in', fill('{annotation:note}'), { annotations: { note: 'y' } }],
    ['its machine', fill(''), { systemUUID: 'v' }],
    ['its instance', fill(''), { providerID: 'aws:///z/i-2' }],
    ['its address', fill(''), { addresses: [] }],
    ['any label, where all were looked at', (facts: NodeFacts) => Object.keys(facts.labels).length, { labels: { ...FACTS.labels, more: 'y' } }],
    ['any annotation, where all were looked at', (facts: NodeFacts) => ({ ...facts.annotations }), { annotations: {} }],
    ['a label that was asked for by in', (facts: NodeFacts) => 'none' in facts.labels, { labels: { ...FACTS.labels, none: '' } }],
  ])('is not the same after a change of %s', (_what, look, changed) => {
    expect(holdsAfter(look, {})).toBe(true);
    expect(holdsAfter(look, changed)).toBe(false);
  });
});
