import { ManualClock } from '../../src/runtime/manual-clock.ts';

const TURN_MS = 10;
/** What the machine takes from this process beyond that is no time of the story. */
const TURN_MAX_MS = 50;

/** Runs as real time does, but no faster than this process gets on, and stands still while it is held: what happens then did not need that time. */
export class HeldClock extends ManualClock {
  #isHeld: () => boolean = () => false;
  #isEnded = false;

  constructor() {
    super({ wallMs: Date.now() });
    void this.#run();
  }

  /** Stands still as long as this says so, which is asked before each turn. */
  holdWhile(isHeld: () => boolean): void {
    this.#isHeld = isHeld;
  }

  end(): void {
    this.#isEnded = true;
  }

  async #run(): Promise<void> {
    let beforeMs = performance.now();
    while (!this.#isEnded) {
      await new Promise((resolve) => setTimeout(resolve, TURN_MS));
      const nowMs = performance.now();
      if (!this.#isHeld()) await this.advance(Math.min(nowMs - beforeMs, TURN_MAX_MS));
      beforeMs = nowMs;
    }
  }
}
