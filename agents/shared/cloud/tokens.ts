import type { Clock } from '../../../src/ports/clock.ts';

export interface Token {
  text: string;
  /** On our wall clock. */
  expiresAtMs: number;
}

/** A token is renewed so long before its end: none ends in the middle of a fence. */
const RENEWED_BEFORE_MS = 60_000;

/** One token of one account, fetched when it is needed and kept until shortly before its end. */
export class TokenKeeper<T extends Token> {
  readonly #clock: Pick<Clock, 'wallMs'>;
  #kept: T | undefined;
  #fetching: Promise<T> | undefined;

  constructor(clock: Pick<Clock, 'wallMs'>) {
    this.#clock = clock;
  }

  /** The kept one, or what `fetch` gives. Calls that come meanwhile wait for the same one; where that fails, each fetches for itself. */
  async get(fetch: () => Promise<T>): Promise<T> {
    if (this.#kept !== undefined && this.#kept.expiresAtMs - RENEWED_BEFORE_MS > this.#clock.wallMs()) return this.#kept;
    const shared = this.#fetching;
    if (shared !== undefined) {
      const found = await shared.catch(() => undefined);
      if (found !== undefined) return found;
    }
    const own = fetch();
    this.#fetching = own;
    try {
      const fetched = await own;
      this.#kept = fetched;
      return fetched;
    } finally {
      if (this.#fetching === own) this.#fetching = undefined;
    }
  }

  /** The cloud does not take this one any more. */
  drop(token: T): void {
    if (this.#kept === token) this.#kept = undefined;
  }
}
