import type { Clock } from '../../ports/clock.ts';

/** No look is so long after the one before while everything answers. */
const OUTAGE_MS = 90_000;

/** Since when something is seen in one phase, by our own clock. */
export class FirstSeenPhase {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #phase: { mark: string; seenMs: number } | undefined;
  #answeredMs: number | undefined;
  #heldSinceMs: number | undefined;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  /** `mark`: whatever makes it another phase. */
  sinceMs(mark: string): number {
    if (this.#phase?.mark !== mark) this.#phase = { mark, seenMs: this.#clock.monotonicMs() };
    return this.#phase.seenMs;
  }

  /** Everything that the phase waits for has answered. Nobody was silent who could not be heard: behind an outage the phase is given its whole time anew. */
  answered(): void {
    const nowMs = this.#clock.monotonicMs();
    const isBehindOutage = this.#answeredMs !== undefined && nowMs - this.#answeredMs > OUTAGE_MS;
    if (isBehindOutage && this.#phase !== undefined) this.#phase = { ...this.#phase, seenMs: nowMs };
    this.#answeredMs = nowMs;
  }

  /** Whether something holds what the phase waits for, told at each look: behind a hold the phase has as much time left as it had before it. */
  held(isHeld: boolean): void {
    const nowMs = this.#clock.monotonicMs();
    if (isHeld) {
      this.#heldSinceMs ??= nowMs;
      return;
    }
    const phase = this.#phase;
    if (this.#heldSinceMs !== undefined && phase !== undefined) {
      this.#phase = { ...phase, seenMs: phase.seenMs + nowMs - Math.max(this.#heldSinceMs, phase.seenMs) };
    }
    this.#heldSinceMs = undefined;
  }
}
