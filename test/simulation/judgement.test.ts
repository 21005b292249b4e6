import { describe, expect, it } from 'vitest';
import { device, entry, fenceWrite, goodTrace, FINAL_AT, status } from '../../src/laws/sample-trace.ts';
import type { TraceEvent } from '../../src/laws/trace.ts';
import { judged } from './judgement.ts';
import type { Scenario } from './scenario.ts';
import { sweptScenario } from './sweep.ts';

const LATE = { what: 'late', byMs: 40_000, atMs: 0, durationMs: 0 } as const;

function found(events: readonly TraceEvent[], disturbances: Scenario['disturbances'] = [], victim = 'a'): string[] {
  const scenario = { ...sweptScenario('taint'), victim, disturbances };
  return judged(
    [...events].sort((one, other) => one.at - other.at),
    scenario,
  ).violations.filter((violation) => /^P[38]/.test(violation));
}

/** The good trace, but its off strikes when the fence has just ended. */
function endedBeforeTheOff(offAt: number): TraceEvent[] {
  const isPower = (event: TraceEvent): boolean => event.kind === 'power' && event.at > 0;
  return [...goodTrace().filter((event) => !isPower(event)), { kind: 'power', at: offAt, node: 'a', state: 'off', cause: 'set' }];
}

describe('a fence that ended while an off of its own was still to come', () => {
  const done = fenceWrite(60_000, status([entry('off')], { state: 'final', step: 'recovery', outcome: 'recovered' }));
  const running = fenceWrite(50_000, status([entry('off')]));

  it('is excused where the off came later than its device ever does', () => {
    const trace = [...endedBeforeTheOff(55_000), running, done];
    expect(
      found(trace)
        .filter((violation) => violation.startsWith('P8'))
        .join(),
    ).toContain('the power is off');
    expect(found(trace, [LATE]).filter((violation) => violation.startsWith('P8'))).toEqual([]);
  });

  it('is excused too where another off took effect meanwhile, and not where it is late by another time than was drawn', () => {
    const on = { kind: 'power', at: FINAL_AT - 5_000, node: 'a', state: 'on', cause: 'restore' } as const;
    const between = { ...on, at: on.at - 5_000, state: 'off', cause: 'set' } as const;
    const trace = [...endedBeforeTheOff(55_000), between, on, running, done];
    expect(found(trace, [LATE]).filter((violation) => violation.startsWith('P8'))).toEqual([]);
    expect(found(trace, [{ ...LATE, byMs: 10_000 }]).join()).toContain('the power is off');
  });

  it('is not excused for an off in time, at another node, or long before its end', () => {
    const inTime = [...endedBeforeTheOff(FINAL_AT - 2_000)];
    expect(found(inTime, [LATE]).join()).toContain('the power is off');
    const trace = [...endedBeforeTheOff(55_000), running, done];
    expect(found(trace, [LATE], 'b').join()).toContain('the power is off');
    const longAgo = [...endedBeforeTheOff(55_000), fenceWrite(150_000, status([entry('off')])), { ...done, at: 160_000 }];
    expect(found(longAgo, [LATE]).join()).toContain('the power is off');
  });
});

describe('a machine that was switched on before its off was read back', () => {
  const isRead = (event: TraceEvent): boolean => event.kind === 'device' && event.action === 'read' && event.shown === 'off';

  it('is excused between that off and its late effect only', () => {
    const unread = endedBeforeTheOff(70_000).filter((event) => !isRead(event));
    expect(found(unread).join()).toContain('was switched on before the off of');
    expect(found(unread, [LATE]).filter((violation) => violation.includes('was read back'))).toEqual([]);
    const again = [...unread, device(80_000, 'set', { want: 'on', answer: '204' })];
    expect(found(again, [LATE]).filter((violation) => violation.includes('was read back'))).toEqual([]);
    const anew = [...unread, device(75_000, 'set', { want: 'off', answer: '204' }), device(80_000, 'set', { want: 'on', answer: '204' })];
    expect(found(anew, [LATE]).join()).toContain('was switched on before the off of');
  });

  it('is excused where that on came in its place, and not in the time that its device has', () => {
    const isPower = (event: TraceEvent): boolean => event.kind === 'power' && event.at > 0;
    const isSwitch = (event: TraceEvent): boolean => event.kind === 'device' && event.action === 'set';
    const before = goodTrace().filter((event) => !isRead(event) && !isPower(event) && !isSwitch(event));
    const insteadAfter = (ms: number): TraceEvent[] => [
      ...before,
      device(20_000, 'set', { want: 'off', answer: '204' }),
      device(20_000 + ms, 'set', { want: 'on', answer: '204' }),
    ];
    const unread = (events: TraceEvent[], late: Scenario['disturbances']): string =>
      found(events, late)
        .filter((violation) => violation.includes('was read back'))
        .join();
    expect(unread(insteadAfter(32_000), [LATE])).toBe('');
    expect(unread(insteadAfter(32_000), [])).toContain('was switched on before the off of');
    expect(unread(insteadAfter(20_000), [LATE])).toContain('was switched on before the off of');
    expect(unread(insteadAfter(45_000), [LATE])).toContain('was switched on before the off of');
  });
});
