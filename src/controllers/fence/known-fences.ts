import { fenceName } from '../../domain/node-fence.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { WrittenObjects } from '../shared/own-writes.ts';

/** NodeFences as this process knows them: those of the watch, and its own writes until the watch has caught up with them. By node. */
export class KnownFences {
  readonly #written: WrittenObjects<NodeFence>;

  constructor(watched: Lister<NodeFence>) {
    this.#written = new WrittenObjects(watched);
  }

  /** The watched NodeFence or our own later write of it, whichever is newer. */
  newest(node: string): NodeFence | undefined {
    return this.#written.newest(fenceName(node));
  }

  /**
   * The same where it says this node. One that bears its name and says another is nobody's, until it is deleted: then what it did to the node whose name it bears is
   * taken back.
   */
  of(node: string): NodeFence | undefined {
    const fence = this.newest(node);
    if (fence === undefined || fence.spec.node === node) return fence;
    return fence.metadata.deletionTimestamp === undefined ? undefined : { ...fence, spec: { ...fence.spec, node } };
  }

  /** There is one, and it is not final. */
  isOpen(node: string): boolean {
    const fence = this.newest(node);
    return fence !== undefined && fence.status?.state !== 'final';
  }

  wrote(fence: NodeFence): void {
    this.#written.wrote(fence);
  }

  /** The watch shows what is known already: to be asked before the newest is. */
  isEcho(fence: NodeFence): boolean {
    return this.#written.isEcho(fence);
  }

  /** What was written counts no more: it is gone, or nobody knows whether it arrived. */
  forget(node: string): void {
    this.#written.forget(fenceName(node));
  }

  /** The watch tells that it is gone; one that has taken its name since is another. Returns what was known of it last. */
  gone(fence: NodeFence): NodeFence {
    return this.#written.gone(fence);
  }
}
