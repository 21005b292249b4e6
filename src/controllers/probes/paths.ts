import type { Path } from './path.ts';

const NONE: readonly Path[] = [];

/** The paths of all nodes. Thousands are walked once a second, and those of one node are found without that: each probe asks for them. */
export class Paths {
  #byNode: ReadonlyMap<string, readonly Path[]> = new Map();
  #all: readonly Path[] = NONE;

  get all(): readonly Path[] {
    return this.#all;
  }

  of(node: string): readonly Path[] {
    return this.#byNode.get(node) ?? NONE;
  }

  /** By node; what is not among them is no path any more. */
  replace(byNode: ReadonlyMap<string, readonly Path[]>): void {
    this.#byNode = byNode;
    this.#all = [...byNode.values()].flat();
  }

  clear(): void {
    this.replace(new Map());
  }
}
