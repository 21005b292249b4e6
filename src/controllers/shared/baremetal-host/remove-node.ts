import type { Cluster } from '../../../ports/cluster.ts';
import { LEASES, NODE_LEASE_NAMESPACE, NODES } from '../../../ports/resources.ts';
import type { ObjectRef } from '../remediation/actions.ts';
import { Moved } from '../moved.ts';
import { standingStop } from '../stops.ts';
import type { LifeSights } from './life-sights.ts';
import type { OffProof } from './off-proof.ts';

export interface RemovalDependencies {
  /** The cluster of the Node, and of the stops on it. */
  cluster: Pick<Cluster, 'get' | 'list' | 'remove'>;
  life: LifeSights;
}

/** A kubelet renews its Lease every 10 s; one that stood still for so long is nobody's. Kubernetes' own lease duration of a node. */
const SILENCE_MS = 40_000;

/**
 * Deletes the Node of a host that is proven off (P1), unless it has shown life since (P2), was not silent for long enough that it would have, or a person has
 * stopped it (P6). Node, Lease and stops are read from the API's quorum right before it. Rejects with `Moved` while any of it lacks.
 */
export async function removeNode({ cluster, life }: RemovalDependencies, target: ObjectRef, proof: OffProof): Promise<void> {
  const [node, lease, stop] = await Promise.all([
    cluster.get(NODES, target.name),
    cluster.get(LEASES, target.name, NODE_LEASE_NAMESPACE),
    standingStop(cluster, target.name),
  ]);
  if (stop !== undefined) throw new Moved(stop);
  if (node?.metadata.uid !== target.uid) throw new Moved(`node ${target.name} is another than the one that was to be deleted`);
  if (lease !== undefined) life.seeLease(lease);
  const heardMs = life.heardMs(target.name);
  if (heardMs !== undefined && heardMs > proof.seenMs) throw new Moved(`node ${target.name} has shown life since its host was seen off`);
  if (lease !== undefined && life.silentForMs(target.name) < SILENCE_MS) {
    throw new Moved(`node ${target.name} has not been silent for long enough yet`);
  }
  const { resourceVersion } = node.metadata;
  await cluster.remove(NODES, target.name, { uid: target.uid, ...(resourceVersion !== undefined && { resourceVersion }) });
}
