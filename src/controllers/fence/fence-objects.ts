import { fenceName } from '../../domain/node-fence.ts';
import { TAKEN_UP_AS } from '../../domain/restored.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import { GROUP, NODE_FENCES, VERSION } from '../../ports/resources.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { FINALIZER, fenceLabels } from '../shared/ownership.ts';
import type { FenceDependencies } from './dependencies.ts';
import type { KnownFences } from './known-fences.ts';
import type { LostFences } from './lost-fences.ts';

/** NodeFences as objects: made, claimed, read anew and let go. Their status is written where it is decided. */
export class FenceObjects {
  readonly #dependencies: Pick<FenceDependencies, 'cluster' | 'queue' | 'log'>;
  readonly #known: KnownFences;
  readonly #lost: LostFences;
  /** Nodes of whose NodeFence nobody knows how it stands since the last write. */
  readonly #unsure = new Set<string>();

  constructor(dependencies: Pick<FenceDependencies, 'cluster' | 'queue' | 'log'>, known: KnownFences, lost: LostFences) {
    this.#dependencies = dependencies;
    this.#known = known;
    this.#lost = lost;
  }

  async create(name: string, spec: NodeFence['spec']): Promise<void> {
    const { cluster, queue, log } = this.#dependencies;
    const labels = fenceLabels(name, 'node-condition');
    try {
      const created = await cluster.create(NODE_FENCES, {
        apiVersion: `${GROUP}/${VERSION}`,
        kind: 'NodeFence',
        metadata: { name: fenceName(name), finalizers: [FINALIZER], labels },
        spec,
      });
      this.#known.wrote(created);
      log.info('fence created', { node: name });
    } catch (error) {
      if (!(error instanceof ApiStatusError) || error.status !== 409) throw error;
      await this.refresh(name);
    }
    queue.add(name);
  }

  /**
   * A NodeFence that somebody else created (`spec.requestedBy`), or whose finalizer somebody took away, must not vanish before what we set is taken back. One that is
   * asked for is marked as the object that it is, before its request is on record as served: a backup of it asks for nothing.
   */
  async claim(fence: NodeFence): Promise<NodeFence> {
    const { name, uid, resourceVersion, finalizers = [], annotations } = fence.metadata;
    const isMarked = fence.spec.requestedBy === undefined || annotations?.[TAKEN_UP_AS] === uid;
    if (finalizers.includes(FINALIZER) && isMarked) return fence;
    const held = finalizers.includes(FINALIZER) ? {} : { finalizers: [...finalizers, FINALIZER] };
    const patch = { metadata: { resourceVersion, ...held, ...(isMarked ? {} : { annotations: { [TAKEN_UP_AS]: uid } }) } };
    const claimed = await this.#elseReadAnew(fence, this.#dependencies.cluster.mergePatch(NODE_FENCES, name, patch));
    this.#known.wrote(claimed);
    return claimed;
  }

  /** Under the version that was read: whoever asks for the fence by then has it. */
  async letGo(fence: NodeFence, alsoDelete: boolean): Promise<void> {
    const { cluster } = this.#dependencies;
    const { name, uid } = fence.metadata;
    this.#lost.letGo(fence);
    let { resourceVersion } = fence.metadata;
    if (fence.metadata.finalizers?.includes(FINALIZER) === true) {
      const finalizers = fence.metadata.finalizers.filter((finalizer) => finalizer !== FINALIZER);
      const free = await this.#elseReadAnew(fence, cluster.mergePatch(NODE_FENCES, name, { metadata: { resourceVersion, finalizers } }));
      ({ resourceVersion } = free.metadata);
    }
    if (alsoDelete) {
      const as = { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
      await this.#elseReadAnew(fence, cluster.remove(NODE_FENCES, name, as));
    }
    this.#known.forget(fence.spec.node);
  }

  /** A consistent read of the NodeFence, which stood as `before`; `false`: there is none. */
  async refresh(node: string, before?: NodeFence): Promise<boolean> {
    const fresh = await this.#dependencies.cluster.get(NODE_FENCES, fenceName(node));
    this.#unsure.delete(node);
    if (before !== undefined && before.metadata.uid !== fresh?.metadata.uid) this.#lost.missed(before);
    if (fresh === undefined) this.#known.forget(node);
    else this.#known.wrote(fresh);
    return fresh !== undefined;
  }

  /** Whether a write arrived is not known: it is read now, or before the next pass, which must not build on what was read before that write. */
  async readAfter({ spec: { node } }: NodeFence): Promise<void> {
    this.#unsure.add(node);
    await this.settle(node);
  }

  /** Before a pass: reads the NodeFence where nobody knows how it stands. Rejects as the cluster port does. */
  async settle(node: string): Promise<void> {
    if (this.#unsure.has(node)) await this.refresh(node, this.#known.newest(node));
  }

  async #elseReadAnew<T>({ spec: { node } }: NodeFence, write: Promise<T>): Promise<T> {
    try {
      return await write;
    } catch (error) {
      this.#unsure.add(node);
      throw error;
    }
  }
}
