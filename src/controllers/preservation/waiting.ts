import type { Clock } from '../../ports/clock.ts';

/**
 * Since when a fence has waited for what is not known yet: from the start, and once more from when this replica leads, for no fence has waited for what a
 * standby was not told.
 */
export class Waiting {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #sinceMs: number | undefined;
  #hasLed = false;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  start(isLeading: boolean): void {
    this.#sinceMs = this.#clock.monotonicMs();
    this.#hasLed = isLeading;
  }

  /** Leadership is here. Whether it has begun anew by that. */
  leads(): boolean {
    if (this.#hasLed) return false;
    this.start(true);
    return true;
  }

  /** 0 before the start. */
  get forMs(): number {
    const nowMs = this.#clock.monotonicMs();
    return nowMs - (this.#sinceMs ?? nowMs);
  }
}
