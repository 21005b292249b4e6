/** Stands in a name for the name of the node, so that nodes which were looked up in the same way hold the same list. No name has it. */
const NODE = '\0';

/** Names that were looked up for one node, each once, and a word for what was found: name, word, name, ... */
export type Looks = readonly unknown[];

/** Look-ups as they are made. */
export class LookBook {
  readonly #node: string;
  readonly #found = new Map<string, unknown>();

  constructor(node: string) {
    this.#node = node;
  }

  add(name: string, found: unknown): void {
    const isOwn = name.endsWith(this.#node);
    const key = isOwn ? name.slice(0, -this.#node.length) + NODE : name;
    if (!this.#found.has(key)) this.#found.set(key, found);
  }

  get looks(): Looks {
    return [...this.#found].flat();
  }
}

/** Does every look of this node find the same again? */
export function holds(looks: Looks, node: string, find: (name: string) => unknown): boolean {
  for (let index = 0; index < looks.length; index += 2) {
    const name = looks[index] as string;
    if (find(name.endsWith(NODE) ? name.slice(0, -NODE.length) + node : name) !== looks[index + 1]) return false;
  }
  return true;
}
