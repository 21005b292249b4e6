import { valueOf } from './domains.ts';
import type { StormNode } from './view.ts';

/** Failed, or silent: in a power or switch failure those are the next ones. Or failed, and kept for a look. */
export function isUnhealthy({ health, isPreserved }: StormNode): boolean {
  return health !== 'healthy' || isPreserved === true;
}

/** Its fence takes capacity away. */
export function holdsSlot({ fence }: StormNode): boolean {
  return fence?.holdsSlot === true;
}

/** Failed, or with a fence that may want to do something: one that is done or final does not. */
function mayBeFenced({ health, fence }: StormNode): boolean {
  return health === 'failed' || (fence !== undefined && fence.state !== 'final' && fence.state !== 'done');
}

/** What a policy, or the shell, looks for among all nodes. */
const KINDS = {
  unhealthy: isUnhealthy,
  planes: ({ isControlPlane }: StormNode) => isControlPlane,
  fenceable: mayBeFenced,
  holders: holdsSlot,
} as const;
type Kind = keyof typeof KINDS;
const ALL_KINDS = Object.keys(KINDS) as Kind[];

const KEYS_MAX = 32;

/** All nodes by name; those that are looked for are kept apart, for they are few. */
export class NodeSet extends Map<string, StormNode> {
  readonly #kept = new Map(ALL_KINDS.map((kind) => [kind, new Map<string, StormNode>()]));
  /** Names of the nodes with a label that was asked for. */
  readonly #labelled = new Map<string, Set<string>>();

  keptOf(kind: Kind): ReadonlyMap<string, StormNode> | undefined {
    return this.#kept.get(kind);
  }

  override set(name: string, node: StormNode): this {
    for (const [kind, kept] of this.#kept) {
      if (KINDS[kind](node)) kept.set(name, node);
      else kept.delete(name);
    }
    for (const [key, names] of this.#labelled) {
      if (valueOf(node, key) === undefined) names.delete(name);
      else names.add(name);
    }
    return super.set(name, node);
  }

  hasLabel(key: string): boolean {
    const known = this.#labelled.get(key) ?? new Set([...this.values()].filter((node) => valueOf(node, key) !== undefined).map(({ name }) => name));
    // Keys of policies that were edited meanwhile go, and those that are still asked for are counted anew.
    if (this.#labelled.size >= KEYS_MAX && !this.#labelled.has(key)) this.#labelled.clear();
    this.#labelled.set(key, known);
    return known.size > 0;
  }

  override delete(name: string): boolean {
    for (const kept of [...this.#kept.values(), ...this.#labelled.values()]) kept.delete(name);
    return super.delete(name);
  }

  override clear(): void {
    for (const kept of [...this.#kept.values(), ...this.#labelled.values()]) kept.clear();
    super.clear();
  }
}

/** Has any node this label? Nobody searches thousands for it where it is kept. */
export function hasLabel(nodes: ReadonlyMap<string, StormNode>, key: string): boolean {
  return nodes instanceof NodeSet ? nodes.hasLabel(key) : [...nodes.values()].some((node) => valueOf(node, key) !== undefined);
}

/** Nobody searches thousands for them where they are kept. */
function kindOf(nodes: ReadonlyMap<string, StormNode>, kind: Kind): StormNode[] {
  const kept = nodes instanceof NodeSet ? nodes.keptOf(kind) : undefined;
  return kept === undefined ? [...nodes.values()].filter(KINDS[kind]) : [...kept.values()];
}

export function unhealthyOf(nodes: ReadonlyMap<string, StormNode>): StormNode[] {
  return kindOf(nodes, 'unhealthy');
}

/** Of the control plane. */
export function planesOf(nodes: ReadonlyMap<string, StormNode>): StormNode[] {
  return kindOf(nodes, 'planes');
}

/** Failed, or with a fence that may want to do something. */
export function fenceableOf(nodes: ReadonlyMap<string, StormNode>): StormNode[] {
  return kindOf(nodes, 'fenceable');
}

export function holdersOf(nodes: ReadonlyMap<string, StormNode>): StormNode[] {
  return kindOf(nodes, 'holders');
}
