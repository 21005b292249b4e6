import type { TreeValue } from './message.ts';

/** One instance of an object. `set` returns an error-status; without it the object may only be read. */
export interface Cell {
  /** `undefined`: the device does not tell a value now (null). */
  read(): TreeValue | undefined;
  set?(integer: number): number;
}

/** The objects of a device in the order of their names. */
export class Tree {
  readonly #cells = new Map<string, Cell>();
  #names: string[] | undefined;

  put(oid: string, cell: Cell): void {
    this.#cells.set(oid, cell);
    this.#names = undefined;
  }

  at(oid: string): Cell | undefined {
    return this.#cells.get(oid);
  }

  /** The name behind this one. */
  after(oid: string): string | undefined {
    this.#names ??= [...this.#cells.keys()].sort(inOrder);
    return this.#names.find((name) => inOrder(name, oid) > 0);
  }
}

function inOrder(left: string, right: string): number {
  const [a, b] = [left.split('.').map(Number), right.split('.').map(Number)];
  const differs = a.findIndex((arc, place) => arc !== b[place]);
  if (differs === -1) return a.length - b.length;
  return (a[differs] ?? 0) - (b[differs] ?? -1);
}
