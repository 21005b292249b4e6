/** A value that changes along the trace. Positions are places in the sorted trace: unlike times, no two are equal. */
export class Timeline<T> {
  readonly entries: { position: number; at: number; value: T }[] = [];

  /** Positions must not fall. */
  add(position: number, at: number, value: T): void {
    this.entries.push({ position, at, value });
  }

  /** The value that stood just before `position`. */
  before(position: number): T | undefined {
    return this.entryBefore(position)?.value;
  }

  entryBefore(position: number): { position: number; at: number; value: T } | undefined {
    return this.entries[this.#countBefore(position) - 1];
  }

  /** Entries with `from` < position < `to`. */
  between(from: number, to: number): readonly { position: number; at: number; value: T }[] {
    return this.entries.slice(this.#countBefore(from + 1), this.#countBefore(to));
  }

  #countBefore(position: number): number {
    let [low, high] = [0, this.entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.entries[middle]?.position ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
