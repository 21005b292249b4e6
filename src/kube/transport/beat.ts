import type { Clock } from '../../ports/clock.ts';

/** Streams that rest for a moment and are read again together: one turn for what came on all of them, where each event would have woken the process. */
export class Beat {
  readonly #clock: Clock;
  readonly #resting = new Set<() => void>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `goOn` is called within `forMs`, sooner where another stream rests already. The returned function leaves before. */
  rest(forMs: number, goOn: () => void): () => void {
    this.#resting.add(goOn);
    this.#cancel ??= this.#clock.after(forMs, () => {
      this.#cancel = undefined;
      const all = [...this.#resting];
      this.#resting.clear();
      for (const one of all) one();
    });
    return () => {
      this.#resting.delete(goOn);
      if (this.#resting.size > 0) return;
      this.#cancel?.();
      this.#cancel = undefined;
    };
  }
}
