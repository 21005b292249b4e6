import type { Clock } from '../ports/clock.ts';

/** So many collections of the whole heap within so long: a storm has one every 1.3 s, a calm cluster none for minutes. V8 by itself makes two of an idle heap, one after the other. */
const OFTEN = 4;
const OFTEN_WITHIN_MS = 10_000;
/** Without one for so long the work is over, also in a heap of four times the room. */
const CALM_MS = 60_000;

export interface Heap {
  /** Collects everything, and keeps the heap small from then on. */
  settle: () => void;
  /** Lets it grow, from the next collection on. */
  widen: () => void;
}

/** A small heap while little happens, and room while much does: in the failure of a thousand nodes a third of the CPU went into collections. */
export class HeapRoom {
  readonly #clock: Clock;
  readonly #heap: Heap;
  #atMs: readonly number[] = [];
  #isWide = false;
  #cancel = (): void => undefined;

  constructor(clock: Clock, heap: Heap) {
    this.#clock = clock;
    this.#heap = heap;
    heap.settle();
  }

  /** V8 began to collect the whole heap because it was full. */
  collected(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#atMs = [...this.#atMs.filter((atMs) => nowMs - atMs < OFTEN_WITHIN_MS), nowMs];
    if (!this.#isWide && this.#atMs.length >= OFTEN) {
      this.#isWide = true;
      this.#heap.widen();
    }
    if (this.#isWide) this.#settleWhenCalm();
  }

  #settleWhenCalm(): void {
    this.#cancel();
    this.#cancel = this.#clock.after(CALM_MS, () => {
      this.#isWide = false;
      this.#heap.settle();
    });
  }
}
