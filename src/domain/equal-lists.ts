/** Of lists that hold the very same items one is kept: thousands of objects have the same list. Only the last few different ones are known. */
export class EqualLists<T> {
  readonly #max: number;
  /** The one that was asked for last is the first. */
  #known: readonly (readonly T[])[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  of(list: readonly T[]): readonly T[] {
    const kept = this.#known.find((known) => sameItems(known, list)) ?? list;
    if (this.#known[0] !== kept) this.#known = [kept, ...this.#known.filter((known) => known !== kept)].slice(0, this.#max);
    return kept;
  }
}

/** The very same ones in the same order. */
export function sameItems<T>(some: readonly T[], others: readonly T[]): boolean {
  return some === others || (some.length === others.length && some.every((item, index) => item === others[index]));
}
