import type { Clock } from '../ports/clock.ts';
import { sleepOn } from './sleep.ts';

interface Timer {
  atMs: number;
  sequence: number;
  callback: () => void;
}

/** A clock for tests: stands still until it is told to move. Equal times fire in the order they were asked for. */
export class ManualClock implements Clock {
  #monotonicMs: number;
  #bootMs: number;
  #wallMs: number;
  #sequence = 0;
  readonly #timers = new Set<Timer>();

  constructor(start: { monotonicMs?: number; bootMs?: number; wallMs?: number } = {}) {
    this.#monotonicMs = start.monotonicMs ?? 1_000_000;
    this.#bootMs = start.bootMs ?? this.#monotonicMs;
    this.#wallMs = start.wallMs ?? Date.UTC(2026, 0, 1);
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  bootMs(): number {
    return this.#bootMs;
  }

  wallMs(): number {
    return this.#wallMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer: Timer = { atMs: this.#monotonicMs + Math.max(0, delayMs), sequence: this.#sequence++, callback };
    this.#timers.add(timer);
    return () => {
      this.#timers.delete(timer);
    };
  }

  sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, delayMs, signal);
  }

  /** Timers that are armed. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Until the earliest armed timer falls due; undefined where none is armed. */
  get nextInMs(): number | undefined {
    const [first] = [...this.#timers].map(({ atMs }) => atMs).sort((one, other) => one - other);
    return first === undefined ? undefined : first - this.#monotonicMs;
  }

  /** Moves all clocks on by `elapsedMs`, fires what falls due in order, and lets every promise settle before each timer and at the end. */
  async advance(elapsedMs: number): Promise<void> {
    const untilMs = this.#monotonicMs + elapsedMs;
    await this.settle();
    for (let timer = this.#earliest(untilMs); timer !== undefined; timer = this.#earliest(untilMs)) {
      this.#timers.delete(timer);
      this.#move(Math.max(0, timer.atMs - this.#monotonicMs));
      timer.callback();
      await this.settle();
    }
    this.#move(untilMs - this.#monotonicMs);
  }

  /** Lets every promise settle without time passing. */
  settle(): Promise<void> {
    return new Promise((resolve) => {
      setImmediate(resolve);
    });
  }

  /** The machine sleeps: boot and wall time run on, monotonic time and timers stand still. */
  suspend(elapsedMs: number): void {
    this.#bootMs += elapsedMs;
    this.#wallMs += elapsedMs;
  }

  /** The process stands still (SIGSTOP): time passes and no timer fires; those due fire at the next `advance`. */
  freeze(elapsedMs: number): void {
    this.#move(elapsedMs);
  }

  /** Somebody sets the wall clock. */
  jumpWall(byMs: number): void {
    this.#wallMs += byMs;
  }

  #move(elapsedMs: number): void {
    this.#monotonicMs += elapsedMs;
    this.#bootMs += elapsedMs;
    this.#wallMs += elapsedMs;
  }

  #earliest(untilMs: number): Timer | undefined {
    let earliest: Timer | undefined;
    for (const timer of this.#timers) {
      if (
        timer.atMs <= untilMs &&
        (earliest === undefined || timer.atMs < earliest.atMs || (timer.atMs === earliest.atMs && timer.sequence < earliest.sequence))
      ) {
        earliest = timer;
      }
    }
    return earliest;
  }
}
