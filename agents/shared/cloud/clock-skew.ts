import type { Clock } from '../../../src/ports/clock.ts';
import type { WebAnswer } from '../web/web-client.ts';

/** Clouds refuse what is signed minutes off their own time. */
const NOTABLE_MS = 30_000;

/** The cloud's time, by the `Date` of its last answer: ours may be wrong, and a signature must not be. */
export class CloudTime {
  readonly #clock: Pick<Clock, 'wallMs'>;
  #aheadMs = 0;

  constructor(clock: Pick<Clock, 'wallMs'>) {
    this.#clock = clock;
  }

  /** How far it is ahead of our clock, as far as is known. */
  get aheadMs(): number {
    return this.#aheadMs;
  }

  /** Milliseconds since 1970. */
  get nowMs(): number {
    return this.#clock.wallMs() + this.#aheadMs;
  }

  /** Was it believed to be another time then, so that a signature of then is out of its time? */
  isFarFrom(aheadMs: number): boolean {
    return Math.abs(this.#aheadMs - aheadMs) > NOTABLE_MS;
  }

  /** True when our clock was found to be another: what was refused may be signed anew. */
  hear({ headers }: Pick<WebAnswer, 'headers'>): boolean {
    const date = Date.parse(headers['date'] ?? '');
    if (Number.isNaN(date)) return false;
    const aheadMs = date - this.#clock.wallMs();
    const isNew = Math.abs(aheadMs - this.#aheadMs) > NOTABLE_MS;
    if (isNew) this.#aheadMs = Math.abs(aheadMs) > NOTABLE_MS ? aheadMs : 0;
    return isNew;
  }
}
