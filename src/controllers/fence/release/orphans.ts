import type { Node } from '../../../ports/objects.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { OrphanCordons } from './orphan-cordon.ts';
import { OrphanTaints } from './orphan-taint.ts';

/** What of ours stands on a Node, and no NodeFence knows of. */
export class Orphans {
  readonly #taints: OrphanTaints;
  readonly #cordons: OrphanCordons;

  constructor(dependencies: FenceDependencies) {
    this.#taints = new OrphanTaints(dependencies);
    this.#cordons = new OrphanCordons(dependencies);
  }

  async mend(node: Node, fence: NodeFence | undefined): Promise<void> {
    if (this.#taints.sees(node, fence)) await this.#taints.mend(node);
    if (this.#cordons.sees(node, fence)) await this.#cordons.mend(node);
  }

  /** The Node is gone. */
  forget(node: string): void {
    this.#taints.forget(node);
    this.#cordons.forget(node);
  }
}
