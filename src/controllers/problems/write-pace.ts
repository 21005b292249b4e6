/** One report is written no more often than this, however often something happens on its node. */
const NODE_PAUSE_MS = 15_000;
/** Of all reports together: a whole cluster that fails at once is no flood. */
const PER_SECOND = 10;
const AT_ONCE = 20;

/** When each report may be written; each gets a later turn of its own, so that none is refused. On the monotonic clock. */
export class WritePace {
  readonly #turns = new Map<string, number>();
  readonly #writtenMs = new Map<string, number>();
  #busyUntilMs = -Infinity;

  /** The turn of this node; the same until it is taken. */
  turnMs(node: string, nowMs: number): number {
    const known = this.#turns.get(node);
    if (known !== undefined) return known;
    const stepMs = 1_000 / PER_SECOND;
    this.#busyUntilMs = Math.max(this.#busyUntilMs, nowMs - AT_ONCE * stepMs) + stepMs;
    const turn = Math.max(nowMs, this.#busyUntilMs, (this.#writtenMs.get(node) ?? -Infinity) + NODE_PAUSE_MS);
    this.#turns.set(node, turn);
    return turn;
  }

  /** It is written now. */
  take(node: string, nowMs: number): void {
    this.#turns.delete(node);
    this.#writtenMs.delete(node);
    this.#writtenMs.set(node, nowMs);
    for (const [other, atMs] of this.#writtenMs) {
      if (nowMs - atMs < NODE_PAUSE_MS) break;
      this.#writtenMs.delete(other);
    }
  }

  /** It is as it should be: nothing is to be written. */
  forget(node: string): void {
    this.#turns.delete(node);
  }
}
