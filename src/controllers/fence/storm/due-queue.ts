/** What is due when, the earliest first: a binary heap. */
export class DueQueue<T extends { readonly dueMs: number }> {
  readonly #heap: T[] = [];

  push(item: T): void {
    const heap = this.#heap;
    let at = heap.length;
    for (;;) {
      const above = (at - 1) >> 1;
      const parent = heap[above];
      if (at === 0 || parent === undefined || parent.dueMs <= item.dueMs) break;
      heap[at] = parent;
      at = above;
    }
    heap[at] = item;
  }

  /** The earliest that is due by now, taken out; undefined: none is. */
  take(nowMs: number): T | undefined {
    const [first] = this.#heap;
    if (first === undefined || first.dueMs > nowMs) return undefined;
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) this.#sink(last);
    return first;
  }

  clear(): void {
    this.#heap.length = 0;
  }

  /** Puts one at the top, and lets it sink to where nothing below it is due earlier. */
  #sink(item: T): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      const [left, right] = [heap[2 * at + 1], heap[2 * at + 2]];
      const isRight = left !== undefined && right !== undefined && right.dueMs < left.dueMs;
      const next = isRight ? right : left;
      if (next === undefined || next.dueMs >= item.dueMs) break;
      heap[at] = next;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = item;
  }
}
