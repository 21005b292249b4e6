import type { Clock } from '../../ports/clock.ts';

/** When it is to be looked again although nothing changes. */
export interface NextLook {
  /** Wall clock, as decisions say it. */
  dueMs: readonly (number | undefined)[];
  /** Monotonic: something is to be tried again. */
  retryAtMs: number | undefined;
}

export interface LookTimerParts {
  clock: Pick<Clock, 'monotonicMs' | 'wallMs' | 'after'>;
  /** Observes, decides and begins what is to be done. */
  look: () => void;
  /** `unsynced`: not all is there yet from which it is decided. */
  next: () => NextLook | 'unsynced';
  /** `look` threw; it is looked again all the same. */
  failed: (error: unknown) => void;
}

/** Between two looks, whatever changes meanwhile. */
const PACE_MS = 100;
/** So often it is looked whatever happens: leadership and silence show in nothing else. */
const TICK_MS = 5_000;
const SYNC_TICK_MS = 500;
/** A decision is made anew, although nothing has changed. */
const RELOOK_MS = 60_000;

/** A decision, and when it was made on the monotonic clock. */
interface Look {
  atMs: number;
  /** `nextDueMs`: wall clock. */
  decision: { nextDueMs?: number };
}

/** Is it to be decided anew although nothing has changed? `undefined`: nothing was decided yet. */
export function isLookDue(look: Look | undefined, nowMs: number, wallMs: number): boolean {
  return look === undefined || nowMs - look.atMs >= RELOOK_MS || (look.decision.nextDueMs ?? Infinity) <= wallMs;
}

/** When a controller looks: soon after a change, never more often than its pace, and in time for what comes due. */
export class LookTimer {
  readonly #parts: LookTimerParts;
  #lookedAtMs = Number.NEGATIVE_INFINITY;
  #timer: { atMs: number; cancel: () => void } | undefined;
  #isRunning = false;

  constructor(parts: LookTimerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#isRunning = true;
    this.soon();
  }

  close(): void {
    this.#isRunning = false;
    this.#timer?.cancel();
  }

  /** Something has changed. Before `start` nothing is looked at. */
  soon(): void {
    this.#lookAt(Math.max(this.#parts.clock.monotonicMs(), this.#lookedAtMs + PACE_MS));
  }

  #lookAt(atMs: number): void {
    if (!this.#isRunning || (this.#timer !== undefined && this.#timer.atMs <= atMs)) return;
    this.#timer?.cancel();
    const { clock, look, failed } = this.#parts;
    const cancel = clock.after(Math.max(0, atMs - clock.monotonicMs()), () => {
      this.#timer = undefined;
      this.#lookedAtMs = clock.monotonicMs();
      try {
        look();
      } catch (error) {
        failed(error);
      }
      this.#lookAt(clock.monotonicMs() + this.#restMs());
    });
    this.#timer = { atMs, cancel };
  }

  #restMs(): number {
    const { clock, next } = this.#parts;
    const found = next();
    if (found === 'unsynced') return SYNC_TICK_MS;
    const due = found.dueMs.map((atMs) => (atMs ?? Infinity) - clock.wallMs());
    const retryMs = (found.retryAtMs ?? Infinity) - clock.monotonicMs();
    return Math.max(PACE_MS, Math.min(TICK_MS, retryMs, ...due));
  }
}
