import type { StormNode } from './view.ts';

/** Failed, or silent: in a power or switch failure those are the next ones. Or failed, and kept for a look. */
export function isUnhealthy({ health, isPreserved }: StormNode): boolean {
  return health !== 'healthy' || isPreserved === true;
}

/** All nodes by name; those that a policy has to look at one by one are kept apart, for they are few. */
export class NodeSet extends Map<string, StormNode> {
  readonly #notable = new Map<string, StormNode>();

  /** Unhealthy, of the control plane, or with a fence. */
  get notable(): ReadonlyMap<string, StormNode> {
    return this.#notable;
  }

  override set(name: string, node: StormNode): this {
    if (isNotable(node)) this.#notable.set(name, node);
    else this.#notable.delete(name);
    return super.set(name, node);
  }

  override delete(name: string): boolean {
    this.#notable.delete(name);
    return super.delete(name);
  }

  override clear(): void {
    this.#notable.clear();
    super.clear();
  }
}

/** Those of a picture that are unhealthy, of the control plane, or have a fence; nobody searches thousands for them where they are kept. */
export function notableOf(nodes: ReadonlyMap<string, StormNode>): StormNode[] {
  return nodes instanceof NodeSet ? [...nodes.notable.values()] : [...nodes.values()].filter(isNotable);
}

function isNotable(node: StormNode): boolean {
  return isUnhealthy(node) || node.isControlPlane || node.fence !== undefined;
}
