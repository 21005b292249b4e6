const BEHIND = 16;
const AHEAD = 16;

/** Which session sequence numbers may still come (section 6.12.13): each once, near the highest seen. */
export class SequenceWindow {
  #highest = 0;
  readonly #seen = new Set<number>();

  /** True the first time that a number within the window comes. */
  admit(sequence: number): boolean {
    if (sequence === 0 || sequence > this.#highest + AHEAD || sequence <= this.#highest - BEHIND || this.#seen.has(sequence)) return false;
    this.#seen.add(sequence);
    if (sequence > this.#highest) this.#highest = sequence;
    for (const old of this.#seen) if (old <= this.#highest - BEHIND) this.#seen.delete(old);
    return true;
  }
}
