import type { Clock } from '../../../src/ports/clock.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';

/** The machine's clock, on which everything comes so many times sooner: for devices that are asked again and again in vain. */
export function quickClock(times: number): Clock {
  const clock = new SystemClock();
  return {
    monotonicMs: () => clock.monotonicMs() * times,
    bootMs: () => clock.bootMs() * times,
    wallMs: () => clock.wallMs(),
    after: (delayMs, callback) => clock.after(delayMs / times, callback),
    sleep: (delayMs, signal) => clock.sleep(delayMs / times, signal),
  };
}
