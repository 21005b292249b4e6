import type { Clock } from '../../ports/clock.ts';

interface Trouble {
  failures: number;
  retryAtMs: number;
  /** undefined: the picture had moved, which is nobody's fault. */
  message: string | undefined;
}

const FIRST_MS = 1_000;
const MOST_MS = 60_000;
/** A picture that moves again and again is looked at again so soon at first, and so late at most. */
const MOVED_MS = 100;
const MOVED_MOST_MS = 5_000;

/** What keeps failing: told once for each problem, tried again later and later, and standing until it has succeeded or nobody wants it any more. */
export class Troubles {
  readonly #clock: Clock;
  readonly #troubles = new Map<string, Trouble>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** May it be tried now? */
  isDue(key: string): boolean {
    return (this.#troubles.get(key)?.retryAtMs ?? 0) <= this.#clock.monotonicMs();
  }

  /** Is this told for the first time? `message` undefined: somebody else was there first. */
  add(key: string, message: string | undefined, atLeastMs = 0): boolean {
    const known = this.#troubles.get(key);
    const failures = (known?.failures ?? 0) + 1;
    const [firstMs, mostMs] = message === undefined ? [MOVED_MS, MOVED_MOST_MS] : [FIRST_MS, MOST_MS];
    const delayMs = Math.max(atLeastMs, Math.min(mostMs, firstMs * 2 ** Math.min(failures - 1, 10)));
    this.#troubles.set(key, { failures, retryAtMs: this.#clock.monotonicMs() + delayMs, message: message ?? known?.message });
    return message !== undefined && message !== known?.message;
  }

  clear(key: string): void {
    this.#troubles.delete(key);
  }

  /** Nobody wants the others any more. */
  retain(isWanted: (key: string) => boolean): void {
    for (const key of [...this.#troubles.keys()]) if (!isWanted(key)) this.#troubles.delete(key);
  }

  /** Monotonic time of the next try. */
  nextDueMs(): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    const times = [...this.#troubles.values()].map(({ retryAtMs }) => retryAtMs).filter((atMs) => atMs > nowMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  words(): string[] {
    return [...this.#troubles].flatMap(([key, { message }]) => (message === undefined ? [] : [`${key}: ${message}`])).sort();
  }
}
