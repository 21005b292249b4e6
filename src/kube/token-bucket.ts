import type { Clock } from '../ports/clock.ts';

/** A token bucket that lends: each taker gets its own later turn, so that many takers are spread out and not refused. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #ratePerSecond: number;
  readonly #burst: number;
  #tokens: number;
  #countedAtMs: number;

  constructor(clock: Clock, limits: { ratePerSecond: number; burst: number }) {
    this.#clock = clock;
    this.#ratePerSecond = limits.ratePerSecond;
    this.#burst = limits.burst;
    this.#tokens = limits.burst;
    this.#countedAtMs = clock.monotonicMs();
  }

  /** Takes one token; the answer is how long to wait for it, in milliseconds. `waiting`: so many wait for theirs, this one too; more is owed to nobody. */
  take(waiting = Number.POSITIVE_INFINITY): number {
    this.#refill();
    this.#tokens = Math.max(this.#tokens - 1, -waiting);
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#ratePerSecond) * 1000;
  }

  /** Takes a token only if one is there now. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) {
      return false;
    }
    this.#tokens -= 1;
    return true;
  }

  get isFull(): boolean {
    this.#refill();
    return this.#tokens >= this.#burst;
  }

  #refill(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((nowMs - this.#countedAtMs) / 1000) * this.#ratePerSecond);
    this.#countedAtMs = nowMs;
  }
}
