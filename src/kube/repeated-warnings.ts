import type { Clock } from '../ports/clock.ts';
import type { Logger, LogFields } from '../ports/recorder.ts';
import { TokenBucket } from './token-bucket.ts';

/** While it stands it is told so often: whoever looks finds it in the log of the last minutes. */
const TOLD_AGAIN_MS = 600_000;
/** Of one thing that fails in ever other words. */
const TEXTS_MAX = 8;
/** Of all that fails for the first time: a right that is lacking fails every object of a kind. */
const LINES = { ratePerSecond: 1 / 3, burst: 20 };

/** What fails and is tried again for as long as it takes: a warning when it begins, and one in a while; each try is told to whoever asks for all. */
export class RepeatedWarnings {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #lines: TokenBucket;
  /** By key, when each text was told. */
  readonly #told = new Map<string, Map<string, number>>();
  /** Kept back since the last line. */
  #untold = 0;

  constructor({ clock, logger }: { clock: Clock; logger: Logger }) {
    this.#clock = clock;
    this.#logger = logger;
    this.#lines = new TokenBucket(clock, LINES);
  }

  /** `key`: what fails. `error` is of `fields`. */
  warn(key: string, message: string, error: unknown, fields: LogFields = {}): void {
    const text = `${message}: ${error instanceof Error ? error.message : String(error)}`.replaceAll(/\d+/gu, '#');
    const nowMs = this.#clock.monotonicMs();
    const told = this.#told.get(key) ?? new Map<string, number>();
    this.#told.set(key, told);
    const isRepeated = nowMs - (told.get(text) ?? Number.NEGATIVE_INFINITY) < TOLD_AGAIN_MS;
    if (isRepeated || !this.#lines.tryTake()) {
      this.#untold += isRepeated ? 0 : 1;
      this.#logger.debug(message, { ...fields, error });
      return;
    }
    if (told.size >= TEXTS_MAX) told.clear();
    told.set(text, nowMs);
    this.#logger.warn(message, { ...fields, ...(this.#untold > 0 && { untold: this.#untold }), error });
    this.#untold = 0;
  }

  /** It does not fail any more. Answers whether it was told that it did. */
  over(key: string): boolean {
    const wasTold = (this.#told.get(key)?.size ?? 0) > 0;
    this.#told.delete(key);
    return wasTold;
  }
}
