import { fenceName } from '../../domain/node-fence.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { NodeFence } from '../../ports/resources.ts';

/** NodeFences as this process knows them: those of the watch, and its own writes until the watch has caught up with them. By node. */
export class KnownFences {
  readonly #watched: Lister<NodeFence>;
  readonly #written = new Map<string, NodeFence>();

  constructor(watched: Lister<NodeFence>) {
    this.#watched = watched;
  }

  /** The watched NodeFence or our own later write of it, whichever is newer. */
  newest(node: string): NodeFence | undefined {
    const watched = this.#watched.get(fenceName(node));
    const own = this.#written.get(node);
    if (own === undefined) return watched;
    if (watched !== undefined && version(watched) >= version(own)) {
      this.#written.delete(node);
      return watched;
    }
    return own;
  }

  /** There is one, and it is not final. */
  isOpen(node: string): boolean {
    const fence = this.newest(node);
    return fence !== undefined && fence.status?.state !== 'final';
  }

  wrote(node: string, fence: NodeFence): void {
    this.#written.set(node, fence);
  }

  /** What was written counts no more: it is gone, or nobody knows whether it arrived. */
  forget(node: string): void {
    this.#written.delete(node);
  }

  /** The watch tells that it is gone; one that has taken its name since is another. */
  gone(fence: NodeFence): void {
    if (this.#written.get(fence.spec.node)?.metadata.uid === fence.metadata.uid) this.#written.delete(fence.spec.node);
  }
}

/** Resource versions are compared as numbers, as KEP-5504 declares them; anything else counts as oldest. */
function version(fence: NodeFence): bigint {
  const text = fence.metadata.resourceVersion ?? '';
  return /^\d+$/.test(text) ? BigInt(text) : 0n;
}
