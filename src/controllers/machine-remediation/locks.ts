import { nodeOfLease } from '../shared/claims/node-lease.ts';
import { LEASES } from '../../ports/resources.ts';
import type { NodeLock } from '../shared/claims/node-lock.ts';
import type { MachineRemediationDependencies } from './dependencies.ts';
import { LOCK_HOLDER } from './names.ts';

type LocksDependencies = Pick<MachineRemediationDependencies, 'cluster' | 'options'> & { lock: Pick<NodeLock, 'take' | 'giveBack'> };

/** The nodes that are ours now, each for one key of the queue (docs/adr/0009). */
export class Locks {
  readonly #dependencies: LocksDependencies;
  readonly #nodes = new Map<string, string>();

  constructor(dependencies: LocksDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * See NodeLock. A Machine that has lost its nodeRef keeps the node that was taken for it; without any there is no Node that somebody else could take, and
   * nothing to be locked.
   */
  async take(key: string, nodeName: string | undefined, isUnderWay: boolean): Promise<string | undefined> {
    const node = nodeName ?? this.#nodes.get(key);
    if (node === undefined) return undefined;
    const refusal = await this.#dependencies.lock.take(node, isUnderWay);
    if (refusal === undefined) this.#nodes.set(key, node);
    return refusal;
  }

  has(key: string): boolean {
    return this.#nodes.has(key);
  }

  async giveBack(key: string): Promise<void> {
    const node = this.#nodes.get(key);
    if (node === undefined) return;
    await this.#dependencies.lock.giveBack(node);
    this.#nodes.delete(key);
  }

  /** Gives back what a predecessor has left of ours. */
  async sweep(isWanted: (node: string) => boolean): Promise<void> {
    const { cluster, lock, options } = this.#dependencies;
    const { nodeLeaseNamespace: namespace } = options;
    if (namespace === undefined) return;
    const held = new Set(this.#nodes.values());
    for (const lease of await cluster.list(LEASES, { namespace })) {
      const node = nodeOfLease(lease);
      if (node === undefined || lease.spec.holderIdentity !== LOCK_HOLDER || held.has(node) || isWanted(node)) continue;
      await lock.giveBack(node);
    }
  }
}
