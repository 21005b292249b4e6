import type { Clock } from '../../ports/clock.ts';

/** So many in one turn: what fails or is answered meanwhile comes between two of them. */
const AT_ONCE = 64;
export const PAUSE_MS = 5;

/** A look at thousands, some at a time; one look after the other. */
export class InTurns {
  readonly #clock: Pick<Clock, 'after'>;
  #cancel: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  get isUnderWay(): boolean {
    return this.#cancel !== undefined;
  }

  /** `onEnd` is called once all were looked at: in this very turn where they are few. */
  begin<T>(all: Iterable<T>, look: (one: T) => void, onEnd: () => void): void {
    this.close();
    const left = all[Symbol.iterator]();
    const goOn = (): void => {
      this.#cancel = undefined;
      for (let count = 0; count < AT_ONCE; count += 1) {
        const next = left.next();
        if (next.done === true) {
          onEnd();
          return;
        }
        look(next.value);
      }
      this.#cancel = this.#clock.after(PAUSE_MS, goOn);
    };
    goOn();
  }

  /** Nothing more is looked at, and the end not told. */
  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
