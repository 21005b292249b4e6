const PARTS_MAX = 4_096;
/** Longer ones rarely repeat. */
const BYTES_MAX = 1_024;

interface Part {
  /** Of its first entry: how long one is stands before its bytes. */
  readonly firstBytes: number;
  readonly value: unknown;
}

/** Lists and maps that thousands of objects have as a whole: one of each is made, found by the bytes of all its entries. Forgotten at as many different ones. */
export class Parts {
  readonly #parts = new Map<unknown, Map<string, Part>>();

  /** What stands for these bytes; undefined: nothing can. */
  nameOf(bytes: Buffer, at: number, end: number): string | undefined {
    return end - at > BYTES_MAX ? undefined : bytes.toString('latin1', at, end);
  }

  get(field: unknown, name: string, firstBytes: number): unknown {
    const known = this.#parts.get(field)?.get(name);
    return known?.firstBytes === firstBytes ? known.value : undefined;
  }

  /** Nobody may change `value` any more. */
  set(field: unknown, name: string, part: Part): void {
    const parts = this.#parts.get(field) ?? new Map<string, Part>();
    this.#parts.set(field, parts);
    if (parts.size >= PARTS_MAX) parts.clear();
    parts.set(name, part);
  }
}
