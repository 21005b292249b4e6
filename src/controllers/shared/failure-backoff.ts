import { backOffMs } from '../../domain/back-off.ts';
import type { Clock } from '../../ports/clock.ts';

interface Failure {
  failures: number;
  retryAtMs: number;
  /** undefined: a write conflict, which is nobody's fault. */
  message: string | undefined;
}

const FIRST_MS = 1_000;
const MOST_MS = 60_000;
/** After conflicts in a row it is tried again so soon at first, and so late at most. */
const CONFLICT_MS = 100;
const CONFLICT_MOST_MS = 5_000;

/** What keeps failing: told once for each problem, tried again later and later, and standing until it has succeeded or nobody wants it any more. */
export class FailureBackoff {
  readonly #clock: Clock;
  readonly #failures = new Map<string, Failure>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** May it be tried now? */
  isDue(key: string): boolean {
    return (this.#failures.get(key)?.retryAtMs ?? 0) <= this.#clock.monotonicMs();
  }

  /** Is this told for the first time? `message` undefined: somebody else was there first. */
  add(key: string, message: string | undefined, atLeastMs = 0): boolean {
    const known = this.#failures.get(key);
    const failures = (known?.failures ?? 0) + 1;
    const [firstMs, mostMs] = message === undefined ? [CONFLICT_MS, CONFLICT_MOST_MS] : [FIRST_MS, MOST_MS];
    const delayMs = Math.max(atLeastMs, backOffMs(failures, firstMs, mostMs));
    this.#failures.set(key, { failures, retryAtMs: this.#clock.monotonicMs() + delayMs, message: message ?? known?.message });
    return message !== undefined && message !== known?.message;
  }

  clear(key: string): void {
    this.#failures.delete(key);
  }

  /** Nobody wants the others any more. */
  retain(isWanted: (key: string) => boolean): void {
    for (const key of [...this.#failures.keys()]) if (!isWanted(key)) this.#failures.delete(key);
  }

  /** Monotonic time of the next try. */
  nextDueMs(): number | undefined {
    const nowMs = this.#clock.monotonicMs();
    const times = [...this.#failures.values()].map(({ retryAtMs }) => retryAtMs).filter((atMs) => atMs > nowMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  messages(): string[] {
    return [...this.#failures].flatMap(([key, { message }]) => (message === undefined ? [] : [`${key}: ${message}`])).sort();
  }
}
