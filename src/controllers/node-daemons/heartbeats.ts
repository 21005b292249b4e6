/** The last that was heard of one node. */
export interface Heard {
  bootID: string;
  counter: number;
  /** On our own monotonic clock. */
  atMs: number;
  /** For people. */
  wallMs: number;
  /** Bits of `SIGNS`. */
  signs: number;
}

/** A lost heartbeat or two are no silence. */
const SILENT_AFTER_MS = 3_000;

/** What was heard of each node: a suspicion at most, never evidence. */
export class Heartbeats {
  readonly #heard = new Map<string, Heard>();

  /** A counter that does not grow was sent before: somebody repeats it, or it was overtaken. */
  accept(node: string, heard: Heard): 'received' | 'replayed' {
    const known = this.#heard.get(node);
    if (known?.bootID === heard.bootID && heard.counter <= known.counter) return 'replayed';
    this.#heard.set(node, heard);
    return 'received';
  }

  last(node: string): Heard | undefined {
    return this.#heard.get(node);
  }

  isHeard(node: string, nowMs: number): boolean {
    const heard = this.#heard.get(node);
    return heard !== undefined && nowMs - heard.atMs < SILENT_AFTER_MS;
  }

  /** Nothing is kept of the others. */
  retain(isKnown: (node: string) => boolean): void {
    for (const node of [...this.#heard.keys()]) if (!isKnown(node)) this.#heard.delete(node);
  }
}
