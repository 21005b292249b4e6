import { describe, expect, it } from 'vitest';
import { healthCheckClaim } from '../health-checks/mode.ts';
import type { HealthCheckChoice } from '../health-checks/mode.ts';
import { MACHINES_CLAIM } from '../machine-remediation/mode.ts';
import { ownershipOf } from './ownership.ts';
import type { FoundKinds } from './ownership.ts';

const SERVED = { group: 'cluster.x-k8s.io', version: 'v1beta2', hasClusters: true, hasBothLists: true };
const LEASE = {
  name: 'controller-leader-election-capi',
  namespace: 'capi-system',
  holder: 'capi-1',
  renewedMs: 0,
  durationMs: 15_000,
  hasMoved: false,
};
const NOW_MS = 1_000_000_000;

function facts(more: Partial<FoundKinds<object>> = {}): FoundKinds<object> {
  return { nowMs: NOW_MS, group: SERVED.group, served: SERVED, isOurs: true, leases: [], deployments: [], unseen: [], ...more };
}

describe('who owns health checks', () => {
  it.each<[string, HealthCheckChoice, Partial<FoundKinds<object>>, boolean, RegExp]>([
    ['the definition is ours and nobody else is there', 'auto', {}, true, /ours/],
    ['they are switched off', 'off', {}, false, /--health-checks off/],
    ['they are not served', 'own', { served: undefined }, false, /served/],
    ['the definition is not ours', 'auto', { isOurs: false }, false, /--health-checks own/],
    ['the definition is not ours, but a person says that they are', 'own', { isOurs: false }, true, /--health-checks own/],
    ['another controller renews its Lease', 'own', { leases: [{ ...LEASE, renewedMs: NOW_MS }] }, false, /renewed by capi-1/],
    ['its Lease moves, whatever the clocks say', 'own', { leases: [{ ...LEASE, hasMoved: true }] }, false, /renewed by capi-1/],
    ['its Lease is old and stands still', 'own', { leases: [LEASE] }, true, /no sign/],
    ['its Lease was looked at once only', 'own', { leases: [{ ...LEASE, hasMoved: undefined }] }, false, /read a second time/],
    [
      'its Deployment is there',
      'own',
      { deployments: [{ name: 'capi-controller-manager', namespace: 'capi-system', replicas: 0 }] },
      false,
      /Deployment/,
    ],
    ['it was at work a moment ago', 'own', { quietForMs: 60_000 }, false, /until 1 min ago/],
    ['it has been gone for long', 'own', { quietForMs: 600_000 }, true, /no sign/],
    ['it can not be known', 'own', { unseen: ['the right to list leases is missing'] }, false, /the right to list leases is missing/],
  ])('where %s', (_name, choice, more, isOwn, reason) => {
    const found = ownershipOf(healthCheckClaim(choice), facts(more));
    expect(found.isOwn).toBe(isOwn);
    expect(found.reason).toMatch(reason);
  });

  it('is asked of nobody’s definition where only who is at work counts', () => {
    expect(ownershipOf(MACHINES_CLAIM, facts({ isOurs: false }))).toEqual({ isOwn: true, reason: 'no sign of another controller' });
    expect(ownershipOf(MACHINES_CLAIM, facts({ leases: [{ ...LEASE, renewedMs: NOW_MS }] })).isOwn).toBe(false);
  });
});
