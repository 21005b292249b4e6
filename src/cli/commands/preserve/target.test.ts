import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../ports/machines.ts';
import type { Node } from '../../../ports/objects.ts';
import { findTarget, targetNameOf } from './target.ts';
import type { Target } from './target.ts';

const nodes: Node[] = ['n1', 'n2', 'both', 'twin'].map((name) => ({ metadata: { name }, spec: {}, status: {} }));
const machine = (name: string, node?: string, namespace = 'shoot', createdAt = '2026-01-01T00:00:00Z'): Machine => ({
  metadata: { name, namespace, creationTimestamp: createdAt, ...(node !== undefined && { labels: { node } }) },
});
const machines = [
  machine('m1', 'n1'),
  machine('both', 'both'),
  machine('twin', 'n2'),
  machine('lone'),
  machine('same', undefined, 'a'),
  machine('same', undefined, 'b'),
  machine('newer', 'n1', 'shoot', '2026-02-01T00:00:00Z'),
];

function found(text: string): string {
  const name = targetNameOf(text);
  if (name === undefined) return 'no name';
  const { asked, node, machine: of }: Target = findTarget(name, { nodes, machines, where: 'here' });
  return `${asked}: node ${node?.metadata.name ?? '-'}, machine ${of === undefined ? '-' : `${of.metadata.namespace ?? ''}/${of.metadata.name}`}`;
}

describe('what nodefence preserve is told to preserve', () => {
  it.each([
    ['n1', 'Node: node n1, machine shoot/newer'],
    ['node/n2', 'Node: node n2, machine shoot/twin'],
    ['m1', 'Machine: node n1, machine shoot/m1'],
    ['machine/shoot/m1', 'Machine: node n1, machine shoot/m1'],
    ['machine/b/same', 'Machine: node -, machine b/same'],
    ['lone', 'Machine: node -, machine shoot/lone'],
    ['both', 'Node: node both, machine shoot/both'],
    ['machine/twin', 'Machine: node n2, machine shoot/twin'],
    ['node/twin', 'Node: node twin, machine -'],
  ])('%s is %s', (text, expected) => {
    expect(found(text)).toBe(expected);
  });

  it.each([
    ['twin', /twin is a Node, and also a Machine of another one .*say node\/twin or machine\/shoot\/twin/],
    ['same', /several Machines are called same: say machine\/a\/same or machine\/b\/same/],
    ['nobody', /there is no Node and no Machine nobody here/],
    ['node/m1', /there is no Node m1 here/],
    ['machine/n1', /there is no Machine n1 here/],
  ])('of %s it says what is wrong', (text, words) => {
    expect(() => found(text)).toThrow(words);
  });

  it.each(['Upper', 'pod/n1', 'node/a/b', 'machine/a/b/c', 'node/', 'machine//m1', ''])('%s is no name', (text) => {
    expect(found(text)).toBe('no name');
  });
});
