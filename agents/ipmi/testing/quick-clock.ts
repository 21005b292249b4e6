import type { Clock } from '../../../src/ports/clock.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';

/** The machine's clock, whose timers come so many times sooner while a test waits for silence. */
export class QuickClock extends SystemClock implements Clock {
  times = 1;

  override after(delayMs: number, callback: () => void): () => void {
    return super.after(delayMs / this.times, callback);
  }
}
