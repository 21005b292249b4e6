import { describe, expect, it } from 'vitest';
import { DEFAULT_STORAGE_CASES, storageReachable } from './storage-reachable.ts';
import type { StorageCase } from './storage-reachable.ts';
import { holdOf, node, view } from './testing/views.ts';

const ANSWERS: Readonly<Record<string, boolean | undefined>> = { y: true, n: false, '?': undefined };

describe('storage-reachable', () => {
  const ALL: StorageCase[] = ['host-unreachable', 'storage-unreachable', 'lease-alive'];
  it.each<[hostPeersLease: string, when: readonly StorageCase[], reason: StorageCase | undefined]>([
    ['y y n', DEFAULT_STORAGE_CASES, undefined],
    ['n y n', DEFAULT_STORAGE_CASES, undefined],
    ['n y n', ALL, 'host-unreachable'],
    ['n ? ?', ALL, 'host-unreachable'],
    ['n n n', ALL, 'storage-unreachable'],
    ['? n ?', DEFAULT_STORAGE_CASES, 'storage-unreachable'],
    ['y n ?', DEFAULT_STORAGE_CASES, undefined],
    ['? n ?', ['lease-alive'], undefined],
    ['? ? y', DEFAULT_STORAGE_CASES, 'lease-alive'],
    ['? ? y', ['storage-unreachable'], undefined],
    ['? n y', DEFAULT_STORAGE_CASES, 'storage-unreachable'],
    ['? ? ?', ALL, undefined],
    ['n n y', [], undefined],
  ])('host, peers, lease %s with when=%s', (answers, when, reason) => {
    const [hostReaches, peersReach, renewsLease] = answers.split(' ').map((answer) => ANSWERS[answer]);
    const one = node('n0', { storage: { hostReaches, peersReach, renewsLease } });
    const found = holdOf(storageReachable({ name: 'p', when }), view([one]));
    expect(found?.reason).toBe(reason);
    expect(found?.message ?? 'ends').toContain('ends');
  });

  it('where nobody reports storage nobody is held', () => {
    expect(holdOf(storageReachable({ name: 'p', when: ALL }), view([node('n0')]))).toBeUndefined();
  });
});
