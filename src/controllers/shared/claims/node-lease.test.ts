import { describe, expect, it } from 'vitest';
import type { Lease } from '../../../ports/objects.ts';
import { isRequesters, nodeLeaseState, nodeOfLease, seeNodeLease } from './node-lease.ts';

const LONG_AGO = '2001-01-01T00:00:00.000000Z';

function lease(spec: Lease['spec'], more: Partial<Lease['metadata']> = {}): Lease {
  return { metadata: { name: 'node-a', uid: 'u', ...more }, spec };
}

const held: Lease['spec'] = { holderIdentity: 'node-maintenance', leaseDurationSeconds: 60, renewTime: LONG_AGO, leaseTransitions: 2 };

describe('the node lease of medik8s', () => {
  it.each([
    ['there is none', undefined, 0, 'free'],
    ['nobody holds it', lease({ holderIdentity: '', leaseDurationSeconds: 60 }), 0, 'free'],
    ['it has no holder at all', lease({}), 0, 'free'],
    ['another holds it, at our first sight, whatever its clock says', lease(held), 0, 'foreign'],
    ['it stood unchanged for just its duration', lease(held), 60_000, 'foreign'],
    ['it stood unchanged for longer', lease(held), 60_001, 'free'],
    ['another holds it for no time', lease({ holderIdentity: 'x' }), 1, 'free'],
    ['it is ours, however old', lease({ ...held, holderIdentity: 'nodefence' }), 9_000_000, 'ours'],
  ] as const)('%s', (_what, record, afterMs, kind) => {
    const observation = record === undefined ? undefined : seeNodeLease(undefined, record, 1_000);
    expect(nodeLeaseState(observation, 1_000 + afterMs).kind).toBe(kind);
  });

  it.each([
    ['renewed', lease({ ...held, renewTime: '2001-01-01T00:00:01.000000Z' }), 5_000],
    ['another object under the same name', lease(held, { uid: 'other' }), 5_000],
    ['labelled', lease(held, { labels: { x: 'y' }, resourceVersion: '9' }), 1_000],
  ])('counts from its first sight: %s', (_what, later, sinceMs) => {
    expect(seeNodeLease(seeNodeLease(undefined, lease(held), 1_000), later, 5_000).sinceMs).toBe(sinceMs);
  });

  it.each([
    ['NodeHealthCheck-nhc', { kind: 'NodeFenceRemediation' }, true],
    ['NodeHealthCheck-nhc', { kind: 'Person' }, false],
    ['NodeHealthCheck-nhc', undefined, false],
    ['node-maintenance', { kind: 'NodeFenceRemediation' }, false],
  ])('of %s does not stand against the fence that it asked for (%j): %s', (holder, requestedBy, own) => {
    expect(isRequesters(holder, requestedBy)).toBe(own);
  });

  it('is told by its name', () => {
    expect([nodeOfLease(lease({})), nodeOfLease(lease({}, { name: 'other' }))]).toEqual(['a', undefined]);
  });
});
