import { describe, expect, it } from 'vitest';
import type { PreservationMode } from '../../../config/preservation-mode.ts';
import { PRESERVE } from '../../../controllers/preservation/names.ts';
import type { Leader } from '../leader.ts';
import { outlook, describeTarget, nothingToStop } from './words.ts';
import type { Outlook } from './words.ts';

const HOUR_MS = 3_600_000;
const LEADER: Leader = { holder: 'a', renewTime: undefined, acquireTime: undefined, epoch: 1, isAlive: true, mode: 'enforce' };
const OWN: PreservationMode = { mode: 'own', readsMachines: true, hasExpiryField: true, spelling: 'auto-preserve', reasons: ['ours'] };
const MCM: PreservationMode = { ...OWN, mode: 'observe', reasons: ['Lease s/mcm is renewed by x'] };
const NODE = { metadata: { name: 'n1' }, spec: {}, status: {} };

function said(more: Partial<Outlook>): string {
  const target = { asked: 'Node' as const, node: NODE, machine: undefined };
  const order = { target, wish: 'now' as const, forMs: undefined, reason: undefined, by: 'olga', mode: OWN, phase: 'Running' as const, nowMs: 0 };
  return outlook({ ...order, before: 'none', isPreserved: false, timeoutMs: 72 * HOUR_MS, leader: LEADER, ...more }).join(' ');
}

describe('nodefence preserve tells what will happen, and when it ends', () => {
  it.each<[string, Partial<Outlook>, RegExp]>([
    ['a running machine now', {}, /goes on running.*not fenced.*machinePreserveTimeout \(3d/],
    ['a running machine now, for a day', { forMs: 24 * HOUR_MS }, /In 1d the annotation goes by itself/],
    ['a failed machine now', { phase: 'Failed' }, /stays Failed: its node is cordoned and drained.*then held/],
    ['a machine that may fail', { wish: 'when-failed' }, /Nothing changes now\. Once it fails.*kept for 3d/],
    [
      'never, of a failed machine that was kept',
      { wish: 'never', phase: 'Failed', isPreserved: true },
      /It has FAILED, so it is switched off by its own plan.*held goes on; if its node recovers by that, the machine goes on too/,
    ],
    ['never, beside an MCM', { wish: 'never', phase: 'Failed', isPreserved: true, mode: MCM }, /deleted by MCM, and its VM/],
    [
      'stop, of a running machine',
      { wish: 'stop', isPreserved: true, before: 'now' },
      /ends now, and it goes on running.*may be preserved automatically/,
    ],
    ['stop, over an automatic value', { wish: 'stop', isPreserved: true, phase: 'Failed', before: 'automatic' }, /value false stays/],
    ['beside an MCM', { mode: MCM }, /An MCM carries this out.*renewed by x.*10 minutes.*not seen from here/],
    ['without a leader', { leader: { ...LEADER, isAlive: false } }, /NO CONTROLLER LEADS/],
    ['under a controller that only observes', { leader: { ...LEADER, mode: 'observe' } }, /OBSERVES ONLY/],
  ])('%s', (_what, more, words) => {
    expect(said(more)).toMatch(words);
  });

  it('of what it speaks', () => {
    const machine = { metadata: { name: 'm1', namespace: 'shoot' } };
    expect(describeTarget({ asked: 'Machine', node: undefined, machine })).toBe('Machine shoot/m1 (no Node)');
    expect(describeTarget({ asked: 'Node', node: NODE, machine })).toBe('Machine shoot/m1 (Node n1)');
    expect(describeTarget({ asked: 'Node', node: NODE, machine: undefined })).toBe('Node n1');
  });

  it('that never goes by hand, where stop finds it', () => {
    const target = { asked: 'Node' as const, node: NODE, machine: undefined };
    expect(nothingToStop(target)).toBe('Nothing asks for its preservation: there is nothing to stop.');
    const annotations = { [PRESERVE]: 'false' };
    expect(nothingToStop({ ...target, node: { ...NODE, metadata: { name: 'n1', annotations } } })).toContain(
      'kubectl annotate node n1 node.machine.sapcloud.io/preserve- lets it be preserved automatically again',
    );
    expect(nothingToStop({ asked: 'Machine', node: undefined, machine: { metadata: { name: 'm1', namespace: 'shoot', annotations } } })).toContain(
      'kubectl -n shoot annotate machine m1 node.machine.sapcloud.io/preserve-',
    );
  });
});
