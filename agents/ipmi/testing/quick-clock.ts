import type { Clock } from '../../../src/ports/clock.ts';

/** A clock whose timers come so many times sooner while a test waits for silence. */
export class QuickClock implements Clock {
  times = 1;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  bootMs(): number {
    return this.#clock.bootMs();
  }

  wallMs(): number {
    return this.#clock.wallMs();
  }

  after(delayMs: number, callback: () => void): () => void {
    return this.#clock.after(delayMs / this.times, callback);
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(delayMs / this.times, signal);
  }
}
