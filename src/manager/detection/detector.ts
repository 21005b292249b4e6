import { backOffMs } from '../../domain/back-off.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/recorder.ts';

export interface DetectorOptions<F> {
  clock: Clock;
  log: Logger;
  /** For the log, when it fails: `whether an MCM is at work`. */
  question: string;
  read: () => Promise<F>;
  /** What follows from it; returns how long it may rest. */
  judge: (found: F) => number;
  /** Between two looks that told something, however soon `judge` wants the next. */
  leastRestMs?: number | undefined;
}

/** Another controller renews its Lease every few seconds; while its part is ours, or that is open, it must be seen before it does much. */
export const SOON_MS = 10_000;
/** After a look that told nothing, and after several in a row: never later than the next look would have been. */
const AGAIN_MS = 5_000;
const AGAIN_MOST_MS = 60_000;
/** Other words of the same failure, as errors that name a port or a request have them each time, are told so often at most. */
const TOLD_AGAIN_MS = 300_000;

/** Looks again and again who owns something: another controller that appears later ends ours. */
export class Detector<F> {
  readonly #options: DetectorOptions<F>;
  readonly #closing = new AbortController();
  readonly #failure = { count: 0, told: '', toldAtMs: Number.NEGATIVE_INFINITY };
  /** What the last look that told something wanted. */
  #restMs = AGAIN_MOST_MS;
  #running: Promise<void> = Promise.resolve();

  constructor(options: DetectorOptions<F>) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the detection is closed'));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      const restMs = await this.#reconcile();
      await clock.sleep(restMs, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }

  /** Returns how long it may rest. */
  async #reconcile(): Promise<number> {
    const { read, judge, leastRestMs = 0 } = this.#options;
    try {
      const found = await read();
      Object.assign(this.#failure, { count: 0, told: '', toldAtMs: Number.NEGATIVE_INFINITY });
      if (this.#closing.signal.aborted) return AGAIN_MS;
      this.#restMs = Math.max(leastRestMs, judge(found));
      return this.#restMs;
    } catch (error) {
      this.#tell(error instanceof Error ? error.message : String(error));
      this.#failure.count += 1;
      const mostMs = Math.max(AGAIN_MS, Math.min(AGAIN_MOST_MS, this.#restMs));
      return backOffMs(this.#failure.count, AGAIN_MS, mostMs);
    }
  }

  /** A failure is told once for as long as it is the same. */
  #tell(message: string): void {
    const { clock, log, question } = this.#options;
    const nowMs = clock.monotonicMs();
    if (message === this.#failure.told || nowMs - this.#failure.toldAtMs < TOLD_AGAIN_MS) return;
    Object.assign(this.#failure, { told: message, toldAtMs: nowMs });
    log.warn('detection failed and will be retried', { question, error: message });
  }
}
