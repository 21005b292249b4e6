import type { BackoffLimits } from './backoff.ts';
import { equalJitter } from './backoff.ts';
import { ApiStatusError } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { Load } from '../ports/load.ts';
import type { WorkqueueMetrics } from '../ports/metrics.ts';
import type { Random } from '../ports/random.ts';
import type { Logger } from '../ports/recorder.ts';
import { RepeatedWarnings } from './repeated-warnings.ts';
import { TokenBucket } from './token-bucket.ts';

export interface WorkqueueOptions {
  /** Label of the metrics. */
  name: string;
  clock: Clock;
  random: Random;
  logger: Logger;
  metrics: WorkqueueMetrics;
  /**
   * Does the work of one key. Resolving is success; `afterMs` asks for another run no later than that. Rejecting is failure: the key comes
   * back by itself, later each time, and not before an API server's `Retry-After`. The signal is aborted when the queue is closed.
   */
  handler: (key: string, signal: AbortSignal) => Promise<WorkResult | undefined>;
  /** Keys worked on at the same time, at most. */
  concurrency: number;
  /**
   * Of those `least` while the process is busy, and more again while it is not: where its own CPU is what they wait for, more at once end no sooner, and each takes
   * longer; where it is the API server, they do not wait for each other. Absent: always `concurrency`.
   */
  pacing?: { least: number; load: Load };
  /** Of one key. Default 100 ms to 60 s. */
  backoff?: BackoffLimits;
  /** Of all retries together. Default 20 a second, 200 at once. First runs are never held back. */
  retryBucket?: { ratePerSecond: number; burst: number };
}

export interface WorkResult {
  afterMs?: number;
}

/** While keys wait for room, the load is looked at so often, and so many more or fewer are worked on. */
const LOOK_MS = 20;
const STEP = 4;
const BUSY = 0.85;
const AT_EASE = 0.7;

/** A key's place in the queue: waiting for its time, ready, in flight, or in flight and wanted again. */
interface Entry {
  failures: number;
  /** Monotonic time of the earliest run that was asked for; undefined: none. */
  dueAtMs: number | undefined;
  cancelTimer: (() => void) | undefined;
  isInFlight: boolean;
  /** Its next run goes before all others. */
  isFirst: boolean;
}

/** A queue of keys, not of objects: each key at most once, at most one run of it at a time, the earliest of all wishes wins. */
export class Workqueue {
  readonly #options: WorkqueueOptions;
  readonly #backoff: BackoffLimits;
  readonly #bucket: TokenBucket;
  readonly #warnings: RepeatedWarnings;
  readonly #entries = new Map<string, Entry>();
  readonly #ready = new Set<string>();
  /** Ready before all of those, the last one first. */
  readonly #first: string[] = [];
  readonly #abort = new AbortController();
  readonly #idle = new Set<() => void>();
  #inFlight = 0;
  /** So many may be in flight now, and never fewer than `#least`. */
  #room: number;
  readonly #least: number;
  #cancelLook: (() => void) | undefined;
  #isPumping = false;
  #isClosed = false;

  constructor(options: WorkqueueOptions) {
    if (!Number.isInteger(options.concurrency) || options.concurrency < 1) {
      throw new Error(`workqueue ${options.name}: concurrency must be a whole number from 1, not ${String(options.concurrency)}`);
    }
    this.#options = options;
    this.#warnings = new RepeatedWarnings(options);
    this.#least = Math.min(options.concurrency, options.pacing?.least ?? options.concurrency);
    this.#room = this.#least;
    this.#backoff = options.backoff ?? { baseMs: 100, maxMs: 60_000 };
    this.#bucket = new TokenBucket(options.clock, options.retryBucket ?? { ratePerSecond: 20, burst: 200 });
  }

  /** Keys known to the queue: waiting, ready or in flight. */
  get size(): number {
    return this.#entries.size;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Asks for a run of `key` no later than `delayMs` from now. A later wish than the one that stands changes nothing. */
  add(key: string, delayMs = 0): void {
    if (this.#isClosed) {
      return;
    }
    const entry = this.#entryOf(key);
    const dueAtMs = this.#options.clock.monotonicMs() + Math.max(0, delayMs);
    if (entry.dueAtMs !== undefined && entry.dueAtMs <= dueAtMs) {
      return;
    }
    entry.dueAtMs = dueAtMs;
    if (!entry.isInFlight) {
      this.#schedule(key, entry, dueAtMs);
    }
  }

  /**
   * Asks for a run of `key` before everything that waits: what is known of it now grows old. Of several the last one runs first. Were it the first one, then all of
   * them would be too old once more is asked for than can be done, and none would ever come to its end.
   */
  addFirst(key: string): void {
    if (this.#isClosed) return;
    const entry = this.#entryOf(key);
    const isReadyFirst = entry.isFirst && !entry.isInFlight;
    entry.isFirst = true;
    entry.dueAtMs = Math.min(entry.dueAtMs ?? Infinity, this.#options.clock.monotonicMs());
    if (!entry.isInFlight && !isReadyFirst) this.#schedule(key, entry, entry.dueAtMs);
  }

  /**
   * Starts nothing more, waits up to `graceMs` for the runs in flight, then aborts their signals. Resolves with the keys that were still
   * running. With 0 they are aborted at once: that is what the loss of the lease asks for.
   */
  async close(graceMs: number): Promise<readonly string[]> {
    this.#isClosed = true;
    for (const [key, entry] of this.#entries) {
      entry.cancelTimer?.();
      if (!entry.isInFlight) {
        this.#entries.delete(key);
      }
    }
    this.#ready.clear();
    this.#first.length = 0;
    this.#cancelLook?.();
    if (this.#inFlight > 0 && graceMs > 0) {
      await new Promise<void>((resolve) => {
        const finish = (): void => {
          cancel();
          this.#idle.delete(finish);
          resolve();
        };
        const cancel = this.#options.clock.after(graceMs, finish);
        this.#idle.add(finish);
      });
    }
    const running = [...this.#entries].filter(([, { isInFlight }]) => isInFlight).map(([key]) => key);
    this.#abort.abort(new Error(`workqueue ${this.#options.name} is closed`));
    return running;
  }

  #entryOf(key: string): Entry {
    const entry = this.#entries.get(key) ?? { failures: 0, dueAtMs: undefined, cancelTimer: undefined, isInFlight: false, isFirst: false };
    this.#entries.set(key, entry);
    return entry;
  }

  #schedule(key: string, entry: Entry, dueAtMs: number): void {
    entry.cancelTimer?.();
    entry.cancelTimer = undefined;
    const delayMs = dueAtMs - this.#options.clock.monotonicMs();
    if (delayMs > 0) {
      this.#ready.delete(key);
      entry.cancelTimer = this.#options.clock.after(delayMs, () => {
        entry.cancelTimer = undefined;
        this.#ready.add(key);
        this.#pump();
      });
      return;
    }
    if (entry.isFirst) {
      this.#ready.delete(key);
      this.#first.push(key);
    } else {
      this.#ready.add(key);
    }
    this.#pump();
  }

  /** Starts what may start, in a turn of its own: a burst of wishes in one turn becomes one run. */
  #pump(): void {
    if (this.#isPumping) {
      return;
    }
    this.#isPumping = true;
    void Promise.resolve().then(() => {
      this.#isPumping = false;
      while (this.#inFlight < this.#room) {
        const key = this.#take();
        if (key === undefined) break;
        void this.#run(key);
      }
      if (this.#waiting > 0) this.#lookAtLoad();
      this.#report();
    });
  }

  #lookAtLoad(): void {
    const { pacing, clock, concurrency } = this.#options;
    if (pacing === undefined || this.#cancelLook !== undefined) return;
    pacing.load.busyShare();
    this.#cancelLook = clock.after(LOOK_MS, () => {
      this.#cancelLook = undefined;
      const share = pacing.load.busyShare();
      if (share > BUSY) this.#room = Math.max(this.#least, this.#room - STEP);
      if (share < AT_EASE) this.#room = Math.min(concurrency, this.#room + STEP);
      this.#pump();
    });
  }

  #take(): string | undefined {
    const first = this.#first.pop();
    if (first !== undefined) return first;
    const [next] = this.#ready;
    if (next !== undefined) this.#ready.delete(next);
    return next;
  }

  async #run(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      return;
    }
    const { clock, metrics, name } = this.#options;
    const startedAtMs = clock.monotonicMs();
    const waitMs = startedAtMs - (entry.dueAtMs ?? startedAtMs);
    entry.dueAtMs = undefined;
    entry.isInFlight = true;
    entry.isFirst = false;
    this.#inFlight += 1;
    const failure = await this.#handle(key, entry);
    this.#inFlight -= 1;
    entry.isInFlight = false;
    const result = failure === undefined ? 'done' : this.#abort.signal.aborted ? 'aborted' : 'failed';
    metrics.finished(name, result, waitMs, clock.monotonicMs() - startedAtMs);
    this.#settle(key, entry);
  }

  /** The handler's error, or undefined. */
  async #handle(key: string, entry: Entry): Promise<Error | undefined> {
    try {
      const result = await this.#options.handler(key, this.#abort.signal);
      entry.failures = 0;
      this.#warnings.over(key);
      if (result?.afterMs !== undefined) {
        this.add(key, result.afterMs);
      }
      return undefined;
    } catch (caught) {
      const error = caught instanceof Error ? caught : new Error(String(caught));
      if (!this.#isClosed) {
        this.#retry(key, entry, error);
      }
      return error;
    }
  }

  #retry(key: string, entry: Entry, error: Error): void {
    const { random, metrics, name } = this.#options;
    const retryAfterMs = error instanceof ApiStatusError ? (error.retryAfterMs ?? 0) : 0;
    const delayMs = Math.max(equalJitter(this.#backoff, entry.failures, random), this.#bucket.take(this.#entries.size), retryAfterMs);
    entry.failures += 1;
    metrics.retried(name);
    const fields = { queue: name, key, failures: entry.failures, delayMs };
    this.#warnings.warn(key, 'work failed and will be tried again', error, fields);
    this.add(key, delayMs);
  }

  #settle(key: string, entry: Entry): void {
    if (this.#isClosed || entry.dueAtMs === undefined) {
      this.#entries.delete(key);
    } else {
      this.#schedule(key, entry, entry.dueAtMs);
    }
    if (this.#inFlight === 0) {
      for (const finish of [...this.#idle]) {
        finish();
      }
    }
    if (!this.#isClosed) {
      this.#pump();
    }
  }

  get #waiting(): number {
    return this.#ready.size + this.#first.length;
  }

  #report(): void {
    this.#options.metrics.depth(this.#options.name, this.#waiting, this.#inFlight);
  }
}
