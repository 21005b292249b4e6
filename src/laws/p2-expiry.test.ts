import { describe, expect, it } from 'vitest';
import { judge } from './judge.ts';
import { api, device, fenceWrite, goodTrace, heartbeat, podDelete, podEviction, status, without } from './sample-trace.ts';
import type { TraceEvent } from './trace.ts';

const P2 = (trace: readonly TraceEvent[]): { checks: number; violations: string[] } => judge(trace).laws.P2;
const isGet = (resource: string) => (event: TraceEvent) => event.kind === 'api' && event.verb === 'get' && event.resource === resource;

describe('P2, evidence expires', () => {
  it('passes a release after Node and Lease were read again', () => {
    expect(P2(goodTrace())).toEqual({ checks: 1, violations: [] });
  });

  it('passes reads of the device that go on after the evidence stood', () => {
    expect(P2([...goodTrace(), device(14_460, 'read', { shown: 'off' })]).violations).toEqual([]);
  });

  it('catches a lease renewed after the last off read', () => {
    expect(P2([...goodTrace(), heartbeat(14_445)]).violations.join()).toContain('the kubelet of a had written leases');
  });

  it('catches an eviction that gives no time, after a lease was renewed', () => {
    const evicted = (lastSign: TraceEvent[]): string =>
      P2([...goodTrace(), ...lastSign, ...podEviction(14_600, 'nodefence', { gracePeriodSeconds: 0 })]).violations.join();
    expect(evicted([])).toBe('');
    expect(evicted([heartbeat(14_550)])).toContain('the kubelet of a had written leases');
  });

  it('catches a heartbeat of the node after the last off read', () => {
    const beat = api(14_480, 'system:node:a', 'patch', 'nodes', 'a', { subresource: 'status' });
    expect(P2([...goodTrace(), beat]).violations).toHaveLength(1);
  });

  it('lets the off be proven anew after a sign of life, by all the reads that it takes', () => {
    const late = without((event) => event.kind === 'device' && event.action === 'read' && event.shown === 'off');
    const reads = (at: readonly number[]): TraceEvent[] => at.map((when) => device(when, 'read', { shown: 'off' }));
    const before = [10_300, 10_400, 10_500, 10_600];
    const trace = [...late, ...reads(before), heartbeat(10_700)];
    expect(judge([...trace, ...reads([11_000, 12_500, 14_200])], { offStableMs: 300 }).laws.P2.violations).toEqual([]);
    expect(judge([...trace, ...reads([14_200])], { offStableMs: 300 }).laws.P2.violations).toHaveLength(1);
  });

  it('catches a sign of life in the midst of the first reads, which has to be followed by all that it takes', () => {
    const late = without((event) => event.kind === 'device' && event.action === 'read' && event.shown === 'off');
    const reads = (at: readonly number[]): TraceEvent[] => at.map((when) => device(when, 'read', { shown: 'off' }));
    const trace = [...late, ...reads([13_800, 13_900, 14_000]), heartbeat(14_050)];
    expect(judge([...trace, ...reads([14_100, 14_250, 14_400])], { offStableMs: 300 }).laws.P2.violations).toEqual([]);
    expect(judge([...trace, ...reads([14_300])], { offStableMs: 300 }).laws.P2.violations.join()).toContain('the kubelet of a had written leases');
  });

  it('lets a renewal that the server refused pass', () => {
    expect(P2([...goodTrace(), { ...heartbeat(14_445), status: 401 }]).violations).toEqual([]);
  });

  it('catches a Node that was not read again', () => {
    expect(P2(without(isGet('nodes'))).violations.join()).toContain('Node a was not read');
  });

  it('catches a Lease that was not read again', () => {
    expect(P2(without(isGet('leases.coordination.k8s.io'))).violations.join()).toContain('the Lease of a was not read');
  });
});

/** A pod is let go because its storage was read closed, and the kubelet of its node renewed its Lease between the two. */
function revoked(lastStep: 'isolation' | undefined, isReadAnew = true): TraceEvent[] {
  const path = { device: 'switch', plug: '7', storage: 'san' };
  const proof = { kind: 'storage-revoked', grade: 'read-back', source: 'close', detail: 'closed', observedAt: '2026-01-01T00:00:00Z' } as const;
  const written = status([], { state: 'new', step: 'isolation', evidence: [proof], ...(lastStep !== undefined && { lastStep }) });
  const create = { object: { metadata: { name: 'node-fence-a', uid: 'fence-a' }, spec: { node: 'a' } } };
  return [
    ...podEviction(5_900, 'nodefence', {}).slice(0, 1),
    api(1_000, 'nodefence', 'create', 'nodefences.ha.k8s.io', 'node-fence-a', create),
    fenceWrite(1_100, status([], { state: 'new', step: 'isolation' })),
    device(1_200, 'set', { ...path, want: 'off' }),
    ...[2_000, 3_000, 4_000, 5_500].map((at) => device(at, 'read', { ...path, shown: 'off' })),
    fenceWrite(5_600, written),
    heartbeat(5_650),
    ...(isReadAnew ? [api(5_700, 'nodefence', 'get', 'nodes', 'a')] : []),
    api(5_750, 'nodefence', 'get', 'leases.coordination.k8s.io', 'a', { namespace: 'kube-node-lease' }),
    podDelete(5_800, 'nodefence', 0),
  ];
}

describe('P2, of a node whose storage was revoked', () => {
  it('catches a release after a sign of life, unless the node was asked to be isolated only', () => {
    expect(P2(revoked(undefined)).violations.join()).toContain('the kubelet of a had written leases');
    expect(P2(revoked('isolation'))).toEqual({ checks: 1, violations: [] });
  });

  it('lets a deletion pass that was on its way when the kubelet wrote, and none whose last reads are older', () => {
    const late = (atMs: number): TraceEvent[] => [
      ...revoked(undefined).filter((event) => event.kind !== 'api' || (event.user !== 'system:node:a' && event.verb !== 'delete')),
      heartbeat(atMs - 10),
      podDelete(atMs, 'nodefence', 0),
    ];
    expect(P2(late(5_800)).violations).toEqual([]);
    const behind = (...reads: TraceEvent[]): string =>
      P2([...late(5_800).slice(0, -1), ...reads, podDelete(5_800, 'nodefence', 0)]).violations.join();
    const leaseRead = api(5_796, 'nodefence', 'get', 'leases.coordination.k8s.io', 'a', { namespace: 'kube-node-lease' });
    expect(behind(api(5_795, 'nodefence', 'get', 'nodes', 'a'))).toBe('');
    expect(behind(api(5_795, 'nodefence', 'get', 'nodes', 'a'), leaseRead)).toContain('the kubelet of a had written leases');
    expect(behind(leaseRead)).toContain('the kubelet of a had written leases');
    expect(P2(late(8_000)).violations.join()).toContain('the kubelet of a had written leases');
  });

  it('lets it be proven closed anew after a sign of life, by all the reads that it takes', () => {
    const closed = (times: readonly number[]): TraceEvent[] =>
      times.map((at) => device(at, 'read', { device: 'switch', plug: '7', storage: 'san', shown: 'off' }));
    const anew = (times: readonly number[]): TraceEvent[] => [
      ...revoked(undefined).filter((event) => event.kind !== 'api' || event.verb !== 'delete'),
      ...closed(times),
      api(9_700, 'nodefence', 'get', 'nodes', 'a'),
      api(9_750, 'nodefence', 'get', 'leases.coordination.k8s.io', 'a', { namespace: 'kube-node-lease' }),
      podDelete(9_800, 'nodefence', 0),
    ];
    expect(P2(anew([6_000, 7_500, 9_100])).violations).toEqual([]);
    expect(P2(anew([8_000, 9_100])).violations.join()).toContain('the kubelet of a had written leases');
  });

  it('catches a sign of life in the midst of the first reads of its storage', () => {
    const early = revoked(undefined).filter((event) => event.kind !== 'api' || event.user !== 'system:node:a');
    expect(P2(early).violations).toEqual([]);
    expect(P2([...early, heartbeat(3_500)]).violations.join()).toContain('the kubelet of a had written leases');
  });

  it('catches one that read its Node from a cache all the same', () => {
    expect(P2(revoked('isolation', false)).violations.join()).toContain('Node a was not read');
  });
});
