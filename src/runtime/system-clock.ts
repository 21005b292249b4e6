import type { Clock } from '../ports/clock.ts';
import { BootClock } from './boot-clock.ts';
import { sleepOn } from './sleep.ts';

/** setTimeout takes 32 bits; a longer delay would fire at once. */
const TIMER_MAX_MS = 2_147_483_647;

/** The machine's clocks. A timer never fires early: setTimeout may, by the rounding of its own clock. */
export class SystemClock implements Clock {
  readonly #boot = new BootClock();

  monotonicMs(): number {
    return Number(process.hrtime.bigint()) / 1e6;
  }

  bootMs(): number {
    return this.#boot.nowMs();
  }

  wallMs(): number {
    return Date.now();
  }

  after(delayMs: number, callback: () => void): () => void {
    const dueAtMs = this.monotonicMs() + Math.max(0, delayMs);
    let timer: NodeJS.Timeout | undefined;
    const arm = (): void => {
      const restMs = Math.min(TIMER_MAX_MS, Math.max(0, Math.ceil(dueAtMs - this.monotonicMs())));
      timer = setTimeout(() => {
        timer = undefined;
        if (this.monotonicMs() < dueAtMs) {
          arm();
        } else {
          callback();
        }
      }, restMs);
    };
    arm();
    return () => {
      clearTimeout(timer);
      timer = undefined;
    };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }
}
