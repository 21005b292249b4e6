import type { Clock } from '../../ports/clock.ts';

/** The process whose time this is. */
interface ClockOwner {
  readonly isDead: boolean;
  readonly kernel: { readonly nowMs: number };
  deliverAfter(delayMs: number, task: () => void): () => void;
}

/** 2026-01-01T00:00:00Z: wall time when every world begins. */
export const WORLD_BEGINS_WALL_MS = 1_767_225_600_000;
/** Clocks of a machine count from its boot, never from zero. */
const BOOTED_BEFORE_MS = 100_000;

/** One process' view of the virtual time. `rate` is how fast its machine's oscillator runs: 1.01 gains 36 s an hour. */
export class ProcessClock implements Clock {
  readonly #process: ClockOwner;
  readonly #rate: number;
  #asleepMs = 0;
  #sleepsSinceMs: number | undefined;
  #wallOffsetMs = 0;

  constructor(process: ClockOwner, rate = 1) {
    this.#process = process;
    this.#rate = rate;
  }

  monotonicMs(): number {
    return BOOTED_BEFORE_MS + this.#rate * ((this.#sleepsSinceMs ?? this.#process.kernel.nowMs) - this.#asleepMs);
  }

  bootMs(): number {
    return BOOTED_BEFORE_MS + this.#rate * this.#process.kernel.nowMs;
  }

  wallMs(): number {
    return WORLD_BEGINS_WALL_MS + this.#rate * this.#process.kernel.nowMs + this.#wallOffsetMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    if (this.#process.isDead) {
      return () => undefined;
    }
    const dueMs = this.monotonicMs() + Math.max(0, delayMs);
    let cancel: () => void;
    const arm = (waitMs: number): void => {
      cancel = this.#process.deliverAfter(waitMs / this.#rate, () => {
        const earlyMs = dueMs - this.monotonicMs();
        // A thousandth of a millisecond: what adding and subtracting doubles may leave over.
        if (earlyMs > 0.001) {
          arm(earlyMs);
        } else {
          callback();
        }
      });
    };
    arm(delayMs);
    return () => {
      cancel();
    };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(reasonOf(signal));
        return;
      }
      const onAbort = (): void => {
        cancel();
        if (signal !== undefined) {
          reject(reasonOf(signal));
        }
      };
      const cancel = this.after(delayMs, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  standStill(): void {
    this.#sleepsSinceMs ??= this.#process.kernel.nowMs;
  }

  goOn(): void {
    if (this.#sleepsSinceMs !== undefined) {
      this.#asleepMs += this.#process.kernel.nowMs - this.#sleepsSinceMs;
      this.#sleepsSinceMs = undefined;
    }
  }

  jumpWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason));
}
