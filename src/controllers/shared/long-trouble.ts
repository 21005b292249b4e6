import type { Clock } from '../../ports/clock.ts';

/** A trouble that lasts longer is worth a person's look. */
const REPORTED_AFTER_MS = 60_000;

/** What mostly passes by itself: told once, when it has lasted, and not again before it is over. */
export class LongTrouble {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #sinceMs: number | undefined;
  #isReported = false;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** It has come, or still stands: is it to be told now? */
  isToBeReported(): boolean {
    const nowMs = this.#clock.monotonicMs();
    this.#sinceMs ??= nowMs;
    if (this.#isReported || nowMs - this.#sinceMs < REPORTED_AFTER_MS) return false;
    this.#isReported = true;
    return true;
  }

  over(): void {
    this.#sinceMs = undefined;
    this.#isReported = false;
  }
}
