import { describe, expect, it } from 'vitest';
import { judge } from './judge.ts';
import { api, device, goodTrace, heartbeat, podEviction, without } from './sample-trace.ts';
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
