import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { timeText } from '../shared/remediation/actions.ts';
import { FirstSeenDeadlines } from './first-seen-deadlines.ts';
import { POWERED_OFF, TIMES_OUT_AT } from './names.ts';

const MINUTE_MS = 60_000;
const OFF_MS = Date.UTC(2027, 0, 1);

/** Of a node that was given twenty minutes. */
function machine(minutes = 20): { uid: string; annotations: Record<string, string> } {
  return { uid: 'm', annotations: { [POWERED_OFF]: timeText(OFF_MS), [TIMES_OUT_AT]: timeText(OFF_MS + minutes * MINUTE_MS) } };
}

/** How many minutes are left at first sight, by a clock that shows so many minutes since the off. */
function left(minutes: number, isNew: boolean): number {
  const clock = new ManualClock({ wallMs: OFF_MS + minutes * MINUTE_MS });
  return ((new FirstSeenDeadlines(clock).untilMs(machine(), isNew) ?? 0) - clock.monotonicMs()) / MINUTE_MS;
}

describe('the time that a node has left', () => {
  it('is all of it where the deadline was seen to come, whatever the clock of this replica', () => {
    expect([left(15, true), left(-600, true), left(600, true)]).toEqual([20, 20, 20]);
  });

  it('is what is left of it where it stood there before, never less than none and never more than all', () => {
    expect([left(15, false), left(600, false), left(-600, false)]).toEqual([5, 0, 20]);
  });

  it('grows by a deadline that is written anew, and never shrinks', () => {
    const clock = new ManualClock({ wallMs: OFF_MS });
    const deadlines = new FirstSeenDeadlines(clock);
    const first = deadlines.untilMs(machine()) ?? 0;
    expect(deadlines.untilMs(machine(10))).toBe(first);
    expect(deadlines.untilMs(machine(50))).toBe(first + 30 * MINUTE_MS);
  });

  it('begins anew with the next incident', () => {
    const clock = new ManualClock({ wallMs: OFF_MS });
    const deadlines = new FirstSeenDeadlines(clock);
    const first = deadlines.untilMs(machine(50)) ?? 0;
    expect(deadlines.untilMs({ uid: 'm', annotations: {} })).toBeUndefined();
    expect(deadlines.untilMs(machine(20))).toBe(first - 30 * MINUTE_MS);
  });
});
