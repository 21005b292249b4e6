/** For one may hang. */
const AT_ONCE = 2;

/**
 * One question that many ask: while two are on their way, whoever asks shares the next one, which is sent when one of them ends. An answer is never older than the wish to
 * have it.
 */
export class SharedQuestion<T> {
  readonly #send: () => Promise<T>;
  #underWay = 0;
  #next: Promise<T> | undefined;
  #sendNext: () => void = () => undefined;

  constructor(send: () => Promise<T>) {
    this.#send = send;
  }

  /** Nobody waits for an answer. */
  get isIdle(): boolean {
    return this.#underWay === 0 && this.#next === undefined;
  }

  ask(): Promise<T> {
    if (this.#next !== undefined) return this.#next;
    if (this.#underWay < AT_ONCE) return this.#question();
    const turn = new Promise<void>((resolve) => {
      this.#sendNext = resolve;
    });
    this.#next = turn.then(() => {
      this.#next = undefined;
      return this.#question();
    });
    return this.#next;
  }

  async #question(): Promise<T> {
    this.#underWay += 1;
    try {
      return await this.#send();
    } finally {
      this.#underWay -= 1;
      this.#sendNext();
    }
  }
}
