import type { Clock } from '../../ports/clock.ts';

export interface WriteRate {
  /** One object is written to so often at once, */
  atOnce: number;
  /** and then once in this time: so two who undo each other's writes do no harm. */
  pauseMs: number;
}

const RATE: WriteRate = { atOnce: 3, pauseMs: 15_000 };

/** How often each object may be written to. */
export class WriteRateLimiter {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #rate: WriteRate;
  /** Monotonic time at which nothing that was written counts any more. */
  readonly #restedAtMs = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonicMs'>, rate = RATE) {
    this.#clock = clock;
    this.#rate = rate;
  }

  /** Monotonic time from which it may be written to; in the past: now. */
  freeAtMs(key: string): number {
    return (this.#restedAtMs.get(key) ?? -Infinity) - (this.#rate.atOnce - 1) * this.#rate.pauseMs;
  }

  /** It is written to now. */
  take(key: string): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [other, atMs] of this.#restedAtMs) if (atMs <= nowMs) this.#restedAtMs.delete(other);
    this.#restedAtMs.set(key, Math.max(nowMs, this.#restedAtMs.get(key) ?? -Infinity) + this.#rate.pauseMs);
  }
}
