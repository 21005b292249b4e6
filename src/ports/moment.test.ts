import { describe, expect, it } from 'vitest';
import { momentOf } from './moment.ts';

/** Clocks of a machine; before each reading of the boot-time clock something happens. */
function clocksOf(
  before: (reading: number) => { elapsedMs?: number; suspendedMs?: number },
): Parameters<typeof momentOf>[0] & { readings: () => number } {
  let [monotonicMs, bootMs, readings] = [1_000, 5_000, 0];
  return {
    monotonicMs: () => monotonicMs,
    bootMs: () => {
      readings += 1;
      const { elapsedMs = 0, suspendedMs = 0 } = before(readings);
      monotonicMs += elapsedMs;
      bootMs += elapsedMs + suspendedMs;
      return bootMs;
    },
    readings: () => readings,
  };
}

describe('two clocks as of one moment', () => {
  it('are read again where the process was put aside between them', () => {
    const clocks = clocksOf((reading) => (reading <= 2 ? { elapsedMs: 700 } : {}));
    const { monotonicMs, bootMs } = momentOf(clocks);
    expect(bootMs - monotonicMs).toBe(4_000);
    expect(clocks.readings()).toBe(3);
  });

  it('show a suspension between them as it is', () => {
    const { monotonicMs, bootMs } = momentOf(clocksOf(() => ({ suspendedMs: 700 })));
    expect(bootMs - monotonicMs).toBe(4_700);
  });

  it('count as apart where something comes between them again and again', () => {
    const clocks = clocksOf(() => ({ elapsedMs: 700 }));
    const { monotonicMs, bootMs } = momentOf(clocks);
    expect(bootMs - monotonicMs).toBe(4_700);
    expect(clocks.readings()).toBe(5);
  });
});
