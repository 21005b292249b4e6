/** Links that stand together are one pool. Answers by the number of the pool; the numbers are those of this instance only. */
export class Partition {
  readonly #numbers = new Map<string, number>();
  readonly #parents: number[] = [];

  join(links: readonly string[]): void {
    const [first, ...rest] = links;
    if (first === undefined) return;
    let root = this.#rootOf(this.#numberOf(first));
    for (const link of rest) {
      const other = this.#rootOf(this.#numberOf(link));
      this.#parents[Math.max(root, other)] = Math.min(root, other);
      root = Math.min(root, other);
    }
  }

  /** undefined: nothing stands there. */
  poolOf(link: string): number | undefined {
    const number = this.#numbers.get(link);
    return number === undefined ? undefined : this.#rootOf(number);
  }

  #numberOf(link: string): number {
    const known = this.#numbers.get(link);
    if (known !== undefined) return known;
    this.#numbers.set(link, this.#parents.length);
    this.#parents.push(this.#parents.length);
    return this.#parents.length - 1;
  }

  #rootOf(number: number): number {
    let root = number;
    for (let parent = this.#parents[root]; parent !== undefined && parent !== root; parent = this.#parents[root]) {
      const above = this.#parents[parent] ?? parent;
      this.#parents[root] = above;
      root = above;
    }
    return root;
  }
}
