import { fenceName } from '../../../domain/node-fence.ts';
import { ApiStatusError } from '../../../ports/api-transport.ts';
import { microTimestamp } from '../../../ports/clock.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import type { Lease } from '../../../ports/objects.ts';
import { LEASES, NODE_FENCES } from '../../../ports/resources.ts';
import { ownerOf } from './claim.ts';
import { describeLease, nodeLeaseName, nodeLeaseState, NODE_LEASE_DURATION_MS, seeNodeLease, takenSpec } from './node-lease.ts';
import type { LeaseObservation, NodeLeaseState } from './node-lease.ts';

export interface NodeLockDependencies {
  /** The cluster of the Nodes. */
  cluster: Pick<Cluster, 'get' | 'create' | 'mergePatch' | 'remove'>;
  clock: Clock;
  /** Of the node leases, as the fence controller has it. */
  namespace: string;
  /** Whose lock it is: `nodefence-` and the name of the controller. Never the holder of fences, for which ours is somebody else's lease. */
  holder: string;
}

const RENEW_MS = NODE_LEASE_DURATION_MS / 3;

/**
 * A node for a controller that works without a NodeFence: the node lease of medik8s, which the fence controller honours before its first isolating call and
 * takes itself for as long as its fence is open (docs/adr/0009). Whoever writes the Lease first has the node. Nothing is kept here but first sights.
 */
export class NodeLock {
  readonly #dependencies: NodeLockDependencies;
  readonly #observations = new Map<string, LeaseObservation>();

  constructor(dependencies: NodeLockDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Takes the node, or keeps it: to be asked before each act. Answers why it is not ours, in words; `undefined`: it is. `isUnderWay`: something of ours stands
   * already, so that a fence that was begun since waits for us; else a node under fence is left alone. Rejects when the API server could not be asked.
   */
  async take(node: string, isUnderWay: boolean): Promise<string | undefined> {
    try {
      const before = isUnderWay ? undefined : await this.#fencedBy(node);
      if (before !== undefined) return before;
      const refusal = await this.#takeLease(node);
      if (refusal !== undefined || isUnderWay) return refusal;
      // A fence may have begun between that look and the Lease; from here on none begins.
      const since = await this.#fencedBy(node);
      if (since !== undefined) await this.giveBack(node);
      return since;
    } catch (error) {
      if (!(error instanceof ApiStatusError)) throw error;
      const { namespace } = this.#dependencies;
      if (error.status === 409) return `Lease ${namespace}/${nodeLeaseName(node)} is being written by somebody else`;
      if (error.status !== 403 && error.status !== 404) throw error;
      return `the node lease in namespace ${namespace}, without which another remediator could act on the node, can not be taken: ${error.message}${remedyFor(error, namespace)}`;
    }
  }

  /** When all is over. Only what is ours, by its version. */
  async giveBack(node: string): Promise<void> {
    const { cluster, namespace, holder } = this.#dependencies;
    const lease = await cluster.get(LEASES, nodeLeaseName(node), namespace);
    this.#observations.delete(node);
    const { uid, resourceVersion } = lease?.metadata ?? {};
    if (lease?.spec.holderIdentity !== holder || uid === undefined || resourceVersion === undefined) return;
    await cluster.remove(LEASES, nodeLeaseName(node), { namespace, uid, resourceVersion });
  }

  async #fencedBy(node: string): Promise<string | undefined> {
    const fence = await this.#dependencies.cluster.get(NODE_FENCES, fenceName(node));
    return fence === undefined ? undefined : ownerOf(fence);
  }

  async #takeLease(node: string): Promise<string | undefined> {
    const { cluster, clock, namespace, holder } = this.#dependencies;
    const lease = await cluster.get(LEASES, nodeLeaseName(node), namespace);
    const state = this.#see(node, lease);
    if (state.kind === 'foreign') return `${describeLease(namespace, node, state.holder)} is held`;
    if (state.kind === 'ours' && clock.monotonicMs() - state.sinceMs < RENEW_MS) return undefined;
    if (lease === undefined) {
      // Not owned by the Node: it must outlive that, where remediation deletes it.
      const metadata = { name: nodeLeaseName(node), namespace };
      this.#see(node, await cluster.create(LEASES, { metadata, spec: takenSpec(undefined, clock, holder) }));
      return undefined;
    }
    const { uid: leaseUID, resourceVersion } = lease.metadata;
    const spec = state.kind === 'ours' ? { renewTime: microTimestamp(clock) } : takenSpec(lease, clock, holder);
    const patch = { metadata: { uid: leaseUID, resourceVersion }, spec };
    this.#see(node, await cluster.mergePatch(LEASES, nodeLeaseName(node), patch, { namespace }));
    return undefined;
  }

  #see(node: string, lease: Lease | undefined): NodeLeaseState {
    const nowMs = this.#dependencies.clock.monotonicMs();
    if (lease === undefined) this.#observations.delete(node);
    else this.#observations.set(node, seeNodeLease(this.#observations.get(node), lease, nowMs));
    return nodeLeaseState(this.#observations.get(node), nowMs, this.#dependencies.holder);
  }
}

/** Where it has no namespace, or no right: of another 404 a second look decides. */
function remedyFor({ status, message }: ApiStatusError, namespace: string): string {
  const apply = 'kubectl apply -k config/medik8s';
  if (status === 403) return `; in the cluster of the node: ${apply}`;
  if (!message.includes(`namespaces "${namespace}" not found`)) return '';
  return `; in the cluster of the node: kubectl create namespace ${namespace}, then ${apply}`;
}
