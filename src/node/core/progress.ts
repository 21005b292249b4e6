import type { Clock } from '../../ports/clock.ts';

/** Whether the daemon's own checks get on: a watchdog that is fed by a wedged process watches nothing. */
export class Progress {
  readonly #clock: Clock;
  readonly #checks = new Map<string, { limitMs: number; atMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** From now on `check` must report within `limitMs` of its last report. */
  expect(check: string, limitMs: number): void {
    this.#checks.set(check, { limitMs, atMs: this.#clock.monotonicMs() });
  }

  report(check: string): void {
    const known = this.#checks.get(check);
    if (known !== undefined) known.atMs = this.#clock.monotonicMs();
  }

  /** Those that do not get on. */
  stuck(): string[] {
    const nowMs = this.#clock.monotonicMs();
    return [...this.#checks].filter(([, { limitMs, atMs }]) => nowMs - atMs > limitMs).map(([check]) => check);
  }
}
