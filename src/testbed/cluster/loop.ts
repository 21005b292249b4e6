import type { Clock } from '../../ports/clock.ts';
import type { Random } from '../../ports/random.ts';
import { isApiFailure } from './api.ts';

const RETRY_FIRST_MS = 50;
const RETRY_LAST_MS = 2_000;
/** Less is what adding and subtracting doubles leaves over: on a virtual clock no time would pass in it. */
const LEAST_MS = 0.001;

/**
 * A level-triggered loop: never two runs at once, pokes during a run cause exactly one more. `work` returns after how many milliseconds it
 * wants to run again, or `undefined` to wait for a poke. A failure of the API is tried again with growing pauses.
 */
export class Loop {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #work: () => Promise<number | undefined>;
  #cancel: (() => void) | undefined;
  #dueMs = Number.POSITIVE_INFINITY;
  #isRunning = false;
  #pokes = 0;
  #isStopped = false;
  #failures = 0;

  constructor(clock: Clock, random: Random, work: () => Promise<number | undefined>) {
    this.#clock = clock;
    this.#random = random;
    this.#work = work;
  }

  poke(): void {
    if (this.#isRunning) this.#pokes += 1;
    else this.#schedule(0);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #schedule(delayMs: number): void {
    if (this.#isStopped) return;
    const dueMs = this.#clock.monotonicMs() + delayMs;
    if (this.#cancel !== undefined && this.#dueMs <= dueMs) return;
    this.#cancel?.();
    this.#dueMs = dueMs;
    this.#cancel = this.#clock.after(delayMs, () => {
      this.#cancel = undefined;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    this.#pokes = 0;
    const nextMs = await this.#attempt();
    this.#isRunning = false;
    if (this.#pokes > 0 && this.#failures === 0) this.#schedule(0);
    else if (nextMs !== undefined) this.#schedule(nextMs > 0 ? Math.max(LEAST_MS, nextMs) : 0);
  }

  async #attempt(): Promise<number | undefined> {
    try {
      const nextMs = await this.#work();
      this.#failures = 0;
      return nextMs;
    } catch (error) {
      if (!isApiFailure(error)) throw error;
      this.#failures += 1;
      const ceilingMs = Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * 2 ** this.#failures);
      return ceilingMs * (0.5 + this.#random.next() / 2);
    }
  }
}
