/** First in, first out within a rank, rank 0 before all others; bounded. */
export class RankedQueue<T> {
  readonly #ranks: T[][];
  readonly #sizeMax: number;
  #size = 0;

  constructor(ranks: number, sizeMax: number) {
    this.#ranks = Array.from({ length: ranks }, () => []);
    this.#sizeMax = sizeMax;
  }

  get size(): number {
    return this.#size;
  }

  /** What has no room any more: the newest of the last rank, if that is behind this one, else this one itself. */
  push(item: T, rank: number): T | undefined {
    const dropped = this.#size < this.#sizeMax ? undefined : this.#ranks.findLast((items, behind) => behind > rank && items.length > 0)?.pop();
    if (dropped === undefined && this.#size >= this.#sizeMax) return item;
    this.#ranks[rank]?.push(item);
    this.#size += dropped === undefined ? 1 : 0;
    return dropped;
  }

  /** Back to where it was taken from. It had room a moment ago: the bound may be passed by as many as are taken at once. */
  putBack(item: T, rank: number): void {
    this.#ranks[rank]?.unshift(item);
    this.#size += 1;
  }

  shift(): T | undefined {
    const first = this.#ranks.find((items) => items.length > 0)?.shift();
    if (first !== undefined) this.#size -= 1;
    return first;
  }

  clear(): void {
    for (const items of this.#ranks) items.length = 0;
    this.#size = 0;
  }
}
