import { describe, expect, it } from 'vitest';
import { describeDriver } from './drivers.ts';
import type { FoundFamily } from '../../manager/health-checks/found-families.ts';

const GROUP = 'cluster.x-k8s.io';
const NOW_MS = Date.UTC(2027, 0, 1);
const served = { group: GROUP, version: 'v1beta2', hasClusters: true, hasBothLists: true };
const ALONE: FoundFamily = { nowMs: NOW_MS, group: GROUP, served, isOurs: false, leases: [], deployments: [], unseen: [] };
const LEASE = { name: 'controller-leader-election-capi', namespace: 'capi-system', holder: 'capi-0', durationMs: 15_000, hasMoved: undefined };
const RENEWED = { ...LEASE, renewedMs: NOW_MS - 1_000 };
const LEFT = { ...LEASE, renewedMs: NOW_MS - 3_600_000 };

describe('who drives health checks', () => {
  it.each([
    [
      'the one whose Lease is renewed',
      'own',
      { ...ALONE, leases: [RENEWED] },
      true,
      'not driven by nodefence: Lease capi-system/controller-leader-election-capi is renewed by capi-0',
    ],
    ['nodefence, where it was told so', 'own', ALONE, true, 'driven by nodefence: --health-checks own, and no sign of another controller'],
    ['nodefence, after a Lease that nobody renews', 'own', { ...ALONE, leases: [LEFT] }, true, 'driven by nodefence'],
    ['nobody, while nodefence has no leader', 'own', ALONE, false, 'driven by nobody, for no controller of nodefence leads'],
    ['not nodefence, where it was told so', 'off', ALONE, true, 'not driven by nodefence: --health-checks off'],
    [
      'not nodefence without its definition',
      'auto',
      ALONE,
      true,
      'not driven by nodefence: the MachineHealthCheck definition was not installed by nodefence',
    ],
  ] as const)('is told: %s', (_who, healthChecks, facts, isAlive, words) => {
    expect(describeDriver(facts, { isAlive, healthChecks })).toContain(`MachineHealthChecks of ${GROUP} are ${words}`);
  });

  it('is what auto comes to, where the leader does not say how it was started', () => {
    expect(describeDriver({ ...ALONE, isOurs: true }, { isAlive: true })).toContain('driven by nodefence: the MachineHealthCheck definition is ours');
  });
});
