import { describe, expect, it } from 'vitest';
import { LEADER_LEASE } from '../../manager/composition.ts';
import type { ApiEvent } from '../../laws/trace.ts';
import { termsOf } from './leaders.ts';

function write(at: number, holderIdentity: string, leaseTransitions: number, changes: Partial<ApiEvent> = {}): ApiEvent {
  const object = { metadata: { name: LEADER_LEASE }, spec: { holderIdentity, leaseTransitions } };
  return { kind: 'api', at, user: 'u', verb: 'update', resource: 'leases.coordination.k8s.io', name: LEADER_LEASE, status: 200, object, ...changes };
}

describe('who led', () => {
  it('is told by the writes of the Lease, one term for each holder', () => {
    const trace = [write(1, 'one', 1, { verb: 'create' }), write(2, 'one', 1), write(3, '', 1), write(4, 'two', 2), write(9, 'two', 2)];
    expect(termsOf(trace)).toEqual([
      { identity: 'one', epoch: 1, fromMs: 1, lastMs: 2 },
      { identity: 'two', epoch: 2, fromMs: 4, lastMs: 9 },
    ]);
  });

  it('does not believe a write that was refused, nor the Lease of a node', () => {
    const kubelet = write(2, 'node-a', 0, { object: { metadata: { name: 'node-a' }, spec: { holderIdentity: 'node-a' } } });
    expect(termsOf([write(1, 'one', 1, { status: 409 }), kubelet])).toEqual([]);
  });
});
