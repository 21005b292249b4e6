/** One of those that are equal is kept: thousands of objects have the same parts. Plain JSON, which nobody changes; forgotten at `max` different ones. */
export class EqualParts {
  readonly #max: number;
  readonly #parts = new Map<string, unknown>();

  constructor(max: number) {
    this.#max = max;
  }

  of<T>(part: T): T {
    const key = typeof part === 'string' ? part : JSON.stringify(part);
    const known = this.#parts.get(key);
    if (known !== undefined && typeof known === typeof part) return known as T;
    if (this.#parts.size >= this.#max) this.#parts.clear();
    this.#parts.set(key, part);
    return part;
  }
}

/**
 * `next`, in which each part that equals what stood there before is that very part: what did not change is held once, and known by a look. Plain JSON;
 * `next` is changed where it is not frozen, `before` never.
 */
export function keeping<T>(next: T, before: unknown): T {
  if (next === before) return before as T;
  if (typeof next !== 'object' || next === null || typeof before !== 'object' || before === null) return next;
  if (Array.isArray(next) !== Array.isArray(before)) return next;
  const [fields, known] = [next as Record<string, unknown>, before as Record<string, unknown>];
  const names = Object.keys(fields);
  const isOpen = !Object.isFrozen(next);
  let isSame = names.length === Object.keys(known).length;
  for (const name of names) {
    const stood = Object.hasOwn(known, name) ? known[name] : undefined;
    const part = keeping(fields[name], stood);
    if (isOpen) fields[name] = part;
    isSame &&= part === stood && stood !== undefined;
  }
  return isSame ? (before as T) : next;
}
