import type { StormNode } from './view.ts';

export const ZONE_LABEL = 'topology.kubernetes.io/zone';

/** Nodes that share a rack, a switch, a zone. */
export interface Domain {
  key: string;
  /** Undefined: those without the label, where others have it or nobody has. */
  value: string | undefined;
  nodes: readonly StormNode[];
}

/** The failure domains of some nodes, by key and value of their labels. */
export class Domains {
  readonly #byKey = new Map<string, Map<string | undefined, StormNode[]>>();

  constructor(nodes: readonly StormNode[], keys: readonly string[]) {
    for (const key of keys) {
      const values = new Map<string | undefined, StormNode[]>();
      for (const node of nodes) {
        const value = valueOf(node, key);
        const known = values.get(value);
        if (known === undefined) values.set(value, [node]);
        else known.push(node);
      }
      this.#byKey.set(key, values);
    }
  }

  /** Everything that shares something: a node stands in one domain of each key. */
  all(): Domain[] {
    return [...this.#byKey].flatMap(([key, values]) => [...values].map(([value, nodes]) => ({ key, value, nodes })));
  }
}

export function valueOf({ labels }: StormNode, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}

/** `zone a (topology.kubernetes.io/zone)`: what a person calls it. */
export function describeDomain({ key, value }: Pick<Domain, 'key' | 'value'>): string {
  return value === undefined ? `the nodes without label ${key}` : `${key}=${value}`;
}
