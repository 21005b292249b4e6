import type { Clock } from '../../ports/clock.ts';

/** One object is written to so often at once, and then once in this time: so two who undo each other's writes do no harm. */
const PAUSE_MS = 15_000;
const AT_ONCE = 3;

/** How often each object may be written to. */
export class WriteRateLimiter {
  readonly #clock: Clock;
  /** Monotonic time at which nothing that was written counts any more. */
  readonly #restedAtMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Monotonic time from which it may be written to; in the past: now. */
  freeAtMs(key: string): number {
    return (this.#restedAtMs.get(key) ?? -Infinity) - (AT_ONCE - 1) * PAUSE_MS;
  }

  /** It is written to now. */
  take(key: string): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [other, atMs] of this.#restedAtMs) if (atMs <= nowMs) this.#restedAtMs.delete(other);
    this.#restedAtMs.set(key, Math.max(nowMs, this.#restedAtMs.get(key) ?? -Infinity) + PAUSE_MS);
  }
}
