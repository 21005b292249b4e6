import type { Clock } from '../../../ports/clock.ts';

/** What was told lately is not told again. Bounded by what is told within `againMs`. */
export class ToldLately {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #againMs: number;
  /** When each was told, the oldest first. */
  readonly #toldMs = new Map<string, number>();

  /** `againMs`: it is told again after so long, in milliseconds; 0: each time. */
  constructor(clock: Pick<Clock, 'monotonicMs'>, againMs: number) {
    this.#clock = clock;
    this.#againMs = againMs;
  }

  /** Tells it, unless it was told lately. `false`: it could not be told now. */
  once(what: string, tell: () => boolean): boolean {
    if (this.#againMs === 0) return tell();
    const nowMs = this.#clock.monotonicMs();
    for (const [told, atMs] of this.#toldMs) {
      if (nowMs - atMs < this.#againMs) break;
      this.#toldMs.delete(told);
    }
    if (this.#toldMs.has(what)) return true;
    if (!tell()) return false;
    this.#toldMs.set(what, nowMs);
    return true;
  }
}
