import { describe, expect, it } from 'vitest';
import { judge } from './judge.ts';
import { device, edited, goodTrace, without } from './sample-trace.ts';
import type { ApiEvent, TraceEvent } from './trace.ts';

const P5 = (trace: readonly TraceEvent[]): { checks: number; violations: string[] } => judge(trace).laws.P5;
const isLease = (event: TraceEvent): event is ApiEvent => event.kind === 'api' && event.namespace === 'nodefence-system';

function withHolder(from: number, spec: object): TraceEvent[] {
  return edited((event) => (isLease(event) && event.at >= from ? { ...event, object: { metadata: { name: 'nodefence-controller' }, spec } } : event));
}

const TAKEN = { metadata: { name: 'nodefence-controller' }, spec: { holderIdentity: 'two', leaseTransitions: 2 } };

describe('P5, one fencer', () => {
  it('passes sets under a lease that is renewed', () => {
    expect(P5(goodTrace())).toEqual({ checks: 9, violations: [] });
  });

  it('catches a set without any lease', () => {
    expect(P5(without(isLease)).violations.join()).toContain('while nobody held the Lease');
  });

  it('catches a set after the lease was given up', () => {
    expect(P5(withHolder(10_000, { holderIdentity: '', leaseTransitions: 1 })).violations.join()).toContain('while nobody held the Lease');
  });

  it('passes a set that had left before the lease was given back', () => {
    const set = goodTrace().find((event) => event.kind === 'device' && event.action === 'set');
    const givenBack = (at: number): TraceEvent[] => {
      const lease = goodTrace().find((event): event is ApiEvent => isLease(event) && event.object !== undefined);
      if (lease === undefined) throw new Error('the sample has a Lease');
      return [
        ...goodTrace(),
        { ...lease, at, object: { metadata: { name: 'nodefence-controller' }, spec: { holderIdentity: '', leaseTransitions: 1 } } },
      ];
    };
    const at = set?.at ?? 0;
    expect(P5(givenBack(at - 20)).violations.filter((violation) => violation.includes(String(at)))).toEqual([]);
    expect(P5(givenBack(at - 60)).violations.join()).toContain('while nobody held the Lease');
  });

  it('judges a successor that takes the Lease and sets in that very moment by its own term', () => {
    const at = goodTrace().find((event) => event.kind === 'device' && event.action === 'set')?.at ?? 0;
    const lease = goodTrace().find((event): event is ApiEvent => isLease(event) && event.object !== undefined);
    if (lease === undefined) throw new Error('the sample has a Lease');
    const free = { ...lease, at: at - 20, object: { ...TAKEN, spec: { holderIdentity: '', leaseTransitions: 1 } } };
    const taken = { ...lease, at: at - 15, object: TAKEN };
    const found = (session: string): string => {
      const trace = edited((event) => (event.kind === 'device' && event.at === at ? { ...event, session } : event));
      return P5([...trace, free, taken])
        .violations.filter((violation) => violation.includes(String(at)))
        .join();
    };
    expect(found('s-of-two')).toContain('in epoch 1 while the Lease stood at 2');
    expect(found('s-of-two')).not.toContain('over a session of');
    expect(found('s1')).toBe('');
  });

  it('catches a set when the last renewal is too old', () => {
    expect(P5(without((event) => isLease(event) && event.at > 8_000)).violations.join()).toContain('ms after the last renewal');
  });

  it('catches a set of a predecessor', () => {
    expect(P5(withHolder(22_000, { holderIdentity: 'two', leaseTransitions: 2 })).violations.join()).toContain(
      'in epoch 1 while the Lease stood at 2',
    );
  });

  it('catches a set over a session of the predecessor, who stood still between reading and setting', () => {
    const lateSet = edited((event) => (event.kind === 'device' && event.action === 'set' ? { ...event, session: 's-of-one' } : event));
    const opened: TraceEvent = device(8_000, 'identity', { session: 's-of-one' });
    const taken = lateSet.map((event) => (isLease(event) && event.at >= 9_000 ? { ...event, object: TAKEN } : event));
    expect(P5([opened, ...taken]).violations.join()).toContain('over a session of');
    expect(P5([{ ...opened, session: 's-of-another' }, ...taken]).violations.join()).not.toContain('over a session of');
  });

  it('catches an on before settle has passed', () => {
    expect(judge(goodTrace(), { settleMs: 13_000 }).laws.P5.violations.join()).toContain('12900 ms after the last off');
  });
});
