import type { Cluster } from '../../../ports/cluster.ts';
import { LEASES, NODE_LEASE_NAMESPACE, NODES } from '../../../ports/resources.ts';
import type { Lease, Node } from '../../../ports/objects.ts';
import type { ObjectRef } from '../remediation/actions.ts';
import { Conflict } from '../conflict.ts';
import { activeStop } from '../stops.ts';
import type { OffProof } from './off-proof.ts';

/** What was heard of Nodes, by the clock of this process. */
export interface NodeLife {
  seeLease(lease: Lease): void;
  lastLifeMs(node: string): number | undefined;
  silentForMs(node: string): number;
}

export interface ReleaseDependencies {
  /** The cluster of the Node, and of the stops on it. */
  cluster: Pick<Cluster, 'get' | 'list'>;
  life: NodeLife;
}

/** Of a Lease that does not say how long it lasts: what a kubelet is given by default. */
const LEASE_SECONDS = 40;
/** A kubelet renews four times in the duration of its Lease. */
const RENEWALS = 4;
/** One that lives would have been heard by then. */
const SILENCE_OF_RENEWALS = 1.5;

/**
 * The Node of a host that is proven off (P1), as it may be deleted or tainted out of service: unless it has shown life since (P2), was not silent for long enough
 * that it would have, or a person has stopped it (P6). Node, Lease and stops are read consistently. Rejects with `Conflict` while any of it lacks.
 */
export async function nodeToRelease({ cluster, life }: ReleaseDependencies, target: ObjectRef, proof: OffProof): Promise<Node> {
  const [node, lease, stop] = await Promise.all([
    cluster.get(NODES, target.name),
    cluster.get(LEASES, target.name, NODE_LEASE_NAMESPACE),
    activeStop(cluster, target.name),
  ]);
  if (stop !== undefined) throw new Conflict(stop);
  if (node?.metadata.uid !== target.uid) throw new Conflict(`node ${target.name} is another than the one that was to be released`);
  if (lease !== undefined) life.seeLease(lease);
  const lastLifeMs = life.lastLifeMs(target.name);
  if (lastLifeMs !== undefined && lastLifeMs > proof.seenMs) throw new Conflict(`node ${target.name} has shown life since its host was seen off`);
  if (lease !== undefined && life.silentForMs(target.name) < silenceMs(lease)) {
    throw new Conflict(`node ${target.name} has not been silent for long enough yet`);
  }
  return node;
}

function silenceMs({ spec }: Lease): number {
  return ((spec.leaseDurationSeconds ?? LEASE_SECONDS) * 1_000 * SILENCE_OF_RENEWALS) / RENEWALS;
}

/** Deletes the Node of a host that is proven off, at the version in which it may be. */
export async function removeNode(
  { cluster, life }: ReleaseDependencies & { cluster: Pick<Cluster, 'remove'> },
  target: ObjectRef,
  proof: OffProof,
): Promise<void> {
  const { resourceVersion } = (await nodeToRelease({ cluster, life }, target, proof)).metadata;
  await cluster.remove(NODES, target.name, { uid: target.uid, ...(resourceVersion !== undefined && { resourceVersion }) });
}
