const NONE: ReadonlySet<string> = new Set();

/** Several values under one key. */
export class Multimap {
  readonly #values = new Map<string, Set<string>>();

  at(key: string): ReadonlySet<string> {
    return this.#values.get(key) ?? NONE;
  }

  add(key: string, value: string): void {
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, new Set([value]));
    else values.add(value);
  }

  remove(key: string, value: string): void {
    const values = this.#values.get(key);
    if (values?.delete(value) === true && values.size === 0) this.#values.delete(key);
  }
}
