import { describe, expect, it } from 'vitest';
import { judge } from './judge.ts';
import { DEVICE, device, edited, entry, fenceWrite, goodTrace, status, without } from './sample-trace.ts';
import type { TraceEvent } from './trace.ts';

const P4 = (trace: readonly TraceEvent[]): { checks: number; violations: string[] } => judge(trace).laws.P4;
const isIntent = (event: TraceEvent): boolean => event.kind === 'api' && event.at === 10_100;

describe('P4, write ahead', () => {
  it('passes sets that stood in the journal before', () => {
    expect(P4(goodTrace())).toEqual({ checks: 4, violations: [] });
  });

  it('catches a set without an intent', () => {
    expect(P4(without(isIntent)).violations.join()).toContain('was set off with no open intent');
  });

  it('catches an intent that was written after the call', () => {
    const late = edited((event) => (isIntent(event) ? { ...event, at: 10_210 } : event));
    expect(P4(late).violations.join()).toContain('was set off with no open intent');
  });

  it('catches an intent that the API server refused', () => {
    const refused = edited((event) => (event.kind === 'api' && isIntent(event) ? { ...event, status: 409 } : event));
    expect(P4(refused).violations).not.toEqual([]);
  });

  it('catches an intent for another device', () => {
    const other = [...without(isIntent), fenceWrite(10_100, status([entry('off', { device: '10.0.0.11:443' })]))];
    expect(P4(other).violations.join()).toContain('was set off with no open intent');
  });

  it('lets a call that was given up arrive before its deadline, not after', () => {
    const finished = fenceWrite(10_120, status([entry('off', { finishedAt: 'then', result: 'timeout' })]));
    const slow = (at: number): TraceEvent[] =>
      edited((event) => (event.kind === 'device' && event.action === 'set' && event.want === 'off' ? { ...event, at } : event));
    expect(P4([...slow(17_000), finished]).violations).toEqual([]);
    expect(P4([...slow(20_000), finished]).violations).toHaveLength(1);
  });

  it('catches a second edge under one intent', () => {
    const again: TraceEvent[] = [
      { kind: 'power', at: 10_260, node: 'a', state: 'on', cause: 'restore' },
      device(10_270, 'set', { want: 'off' }),
      { kind: 'power', at: 10_280, node: 'a', state: 'off', cause: 'set' },
    ];
    expect(P4([...goodTrace(), ...again]).violations.join()).toContain('2 edges to off for 1 intents');
  });

  it('leaves out what an operator of the host has switched, and that alone', () => {
    const cycle: TraceEvent[] = [
      device(31_200, 'set', { want: 'off' }),
      { kind: 'power', at: 31_210, node: 'a', state: 'off', cause: 'set' },
      device(31_500, 'set', { want: 'on' }),
      { kind: 'power', at: 31_510, node: 'a', state: 'on', cause: 'set' },
    ];
    const call = (at: number, want: 'on' | 'off'): TraceEvent => ({
      kind: 'operator',
      at,
      tookMs: 50,
      node: 'a',
      device: DEVICE,
      want,
      answer: 'accepted',
    });
    expect(P4([...goodTrace(), ...cycle, call(31_220, 'off'), call(31_520, 'on')]).violations).toEqual([]);
    const half = P4([...goodTrace(), ...cycle, call(31_220, 'off')]).violations.join();
    expect(half).toContain('was set on with no open intent');
    expect(half).toContain('2 edges to on for 1 intents');
  });

  it('counts an edge for the incident whose set caused it, when a device of this run may be so late', () => {
    const over = status([entry('off', { finishedAt: 'then', result: 'timeout' })], { state: 'final', step: 'recovery', outcome: 'failed' });
    const next = status([], { state: 'new', step: 'isolation', incident: 2 });
    const early = goodTrace().filter((event) => event.at <= 10_200);
    const trace: TraceEvent[] = [
      ...early,
      fenceWrite(20_000, over),
      fenceWrite(30_000, next),
      { kind: 'power', at: 60_000, node: 'a', state: 'off', cause: 'set' },
    ];
    const late = (lateEffectMs: number): string[] => judge(trace, { lateEffectMs }).laws.P4.violations;
    expect(late(50_000)).toEqual([]);
    expect(late(0).join()).toContain('incident 2 of node-fence-a saw 1 edges to off for 0 intents');
    const twice: TraceEvent[] = [
      ...trace,
      { kind: 'power', at: 15_000, node: 'a', state: 'off', cause: 'set' },
      { kind: 'power', at: 16_000, node: 'a', state: 'on', cause: 'restore' },
    ];
    expect(judge(twice, { lateEffectMs: 50_000 }).laws.P4.violations, 'that set has had its edge').toHaveLength(1);
    const second = device(15_000, 'set', { want: 'off', answer: '204' });
    const { violations } = judge([...twice, second], { lateEffectMs: 50_000 }).laws.P4;
    expect(violations.join(), 'the other set has not').not.toContain('incident 2');
  });
});
