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
/** After a look that told nothing. */
const AGAIN_MS = 5_000;

/** Looks again and again who owns something: another controller that appears later ends ours. */
export class Detector<F> {
  readonly #options: DetectorOptions<F>;
  readonly #closing = new AbortController();
  #failure = '';
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

  /** Returns how long it may rest. A failure is told once for as long as it is the same. */
  async #reconcile(): Promise<number> {
    const { log, question, read, judge, leastRestMs = 0 } = this.#options;
    try {
      const found = await read();
      this.#failure = '';
      return this.#closing.signal.aborted ? AGAIN_MS : Math.max(leastRestMs, judge(found));
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message !== this.#failure) log.warn('detection failed and will be retried', { question, error: message });
      this.#failure = message;
      return AGAIN_MS;
    }
  }
}
