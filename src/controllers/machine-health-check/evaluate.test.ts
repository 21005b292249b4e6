import { expect, it } from 'vitest';
import { isTarget } from './evaluate.ts';

type Check = Parameters<typeof isTarget>[0];
type Machine = Parameters<typeof isTarget>[1];

it('a check looks after the Machines of its own namespace and Cluster that it selects, and no other', () => {
  const check = { namespace: 'a', clusterName: 'c', flavour: 'cluster-api', selects: (labels: Record<string, string>) => labels['pool'] === 'x' };
  const machine = { namespace: 'a', clusterName: 'c', annotations: {}, labels: { pool: 'x' } };
  const isOne = (change: object): boolean => isTarget(check as unknown as Check, { ...machine, ...change } as unknown as Machine);
  expect(isOne({})).toBe(true);
  expect(isOne({ namespace: 'b' })).toBe(false);
  expect(isOne({ clusterName: 'd' })).toBe(false);
  expect(isOne({ labels: { pool: 'y' } })).toBe(false);
});
