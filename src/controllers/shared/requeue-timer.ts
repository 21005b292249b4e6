import type { Clock } from '../../ports/clock.ts';

/** When to reconcile again although nothing changes. */
export interface NextRequeue {
  /** Wall clock, as decisions say it. */
  dueMs: readonly (number | undefined)[];
  /** Monotonic: something is to be tried again. */
  retryAtMs: number | undefined;
}

export interface RequeueTimerParts {
  clock: Pick<Clock, 'monotonicMs' | 'wallMs' | 'after'>;
  /** Observes, decides and begins what is to be done. */
  reconcile: () => void;
  /** `unsynced`: not all is there yet from which it is decided. */
  next: () => NextRequeue | 'unsynced';
  /** `reconcile` threw; it is called again all the same. */
  failed: (error: unknown) => void;
}

/** Between two reconciliations, whatever changes meanwhile. */
const MIN_INTERVAL_MS = 100;
/** So often it reconciles whatever happens: leadership and silence show in nothing else. */
const TICK_MS = 5_000;
const SYNC_TICK_MS = 500;
/** A decision is made anew, although nothing has changed. */
const RESYNC_PERIOD_MS = 60_000;

/** A decision, and when it was made on the monotonic clock. */
interface Reconciliation {
  atMs: number;
  /** `nextDueMs`: wall clock. */
  decision: { nextDueMs?: number };
}

/** Is it to be decided anew although nothing has changed? `undefined`: nothing was decided yet. */
export function isReconcileDue(last: Reconciliation | undefined, nowMs: number, wallMs: number): boolean {
  return last === undefined || nowMs - last.atMs >= RESYNC_PERIOD_MS || (last.decision.nextDueMs ?? Infinity) <= wallMs;
}

/** When a controller reconciles: soon after a change, never more often than its least interval allows, and in time for what comes due. */
export class RequeueTimer {
  readonly #parts: RequeueTimerParts;
  #reconciledAtMs = Number.NEGATIVE_INFINITY;
  #timer: { atMs: number; cancel: () => void } | undefined;
  #isRunning = false;

  constructor(parts: RequeueTimerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#isRunning = true;
    this.enqueue();
  }

  close(): void {
    this.#isRunning = false;
    this.#timer?.cancel();
  }

  /** Something has changed. Before `start` nothing is reconciled. */
  enqueue(): void {
    this.#requeueAt(Math.max(this.#parts.clock.monotonicMs(), this.#reconciledAtMs + MIN_INTERVAL_MS));
  }

  #requeueAt(atMs: number): void {
    if (!this.#isRunning || (this.#timer !== undefined && this.#timer.atMs <= atMs)) return;
    this.#timer?.cancel();
    const { clock, reconcile, failed } = this.#parts;
    const cancel = clock.after(Math.max(0, atMs - clock.monotonicMs()), () => {
      this.#timer = undefined;
      this.#reconciledAtMs = clock.monotonicMs();
      try {
        reconcile();
      } catch (error) {
        failed(error);
      }
      this.#requeueAt(clock.monotonicMs() + this.#restMs());
    });
    this.#timer = { atMs, cancel };
  }

  #restMs(): number {
    const { clock, next } = this.#parts;
    const found = next();
    if (found === 'unsynced') return SYNC_TICK_MS;
    const due = found.dueMs.map((atMs) => (atMs ?? Infinity) - clock.wallMs());
    const retryMs = (found.retryAtMs ?? Infinity) - clock.monotonicMs();
    return Math.max(MIN_INTERVAL_MS, Math.min(TICK_MS, retryMs, ...due));
  }
}
