import { fenceFactsOf } from '../../domain/fence-facts.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import type { ProofReader } from '../../ports/proof-reads.ts';
import { LEASES, NODE_FENCES, NODE_LEASE_NAMESPACE, NODES } from '../../ports/resources.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { DETACH_TIMEOUT_MS, volumesLeavingOf } from '../shared/attached-volumes.ts';
import { Conflict } from '../shared/conflict.ts';
import { unlessOld } from '../shared/release/proof-age.ts';
import { activeStop } from '../shared/stops.ts';
import type { Action } from './actions.ts';
import type { RemediationDependencies } from './dependencies.ts';

/** By the uid of the Node: its Lease as a consistent read first showed it, and when that was on our own clock. */
export type LeaseObservations = Map<string, { renewTime: string | undefined; seenMs: number }>;

/** A kubelet renews its Lease every 10 s; one that stood still for so long is nobody's. Kubernetes' own lease duration of a node. */
const SILENCE_MS = 40_000;

interface Removing {
  clock: RemediationDependencies['clock'];
  /** Absent: of a cluster whose devices are not ours to read. */
  reader?: ProofReader;
  cluster: Cluster;
  /** Rejects with `Conflict` once nobody asks for it any more. */
  unlessTakenBack: () => Promise<void>;
}

type Order = Extract<Action, { kind: 'delete-node' }>;

/**
 * Deletes the Node of a machine that stays off (P1, P2): on the standing proof of the NodeFence that is named, for the same Node and boot, with no stop on it,
 * not Ready, while somebody asks for it, and after its Lease has been seen to stand still. Last of all its device is read anew, for a fence that is over
 * reads it no more, and everything once more after it. All is read consistently. Rejects with `Conflict` while any of it lacks, and while its volumes are being detached, for as long as that may
 * take; otherwise where the device does not bear the proof out. Resolves with how many volumes it went with.
 */
export async function removeNode(removing: Removing, order: Order, observations: LeaseObservations): Promise<number> {
  const { clock, reader, cluster } = removing;
  const { target } = order;
  const before = await unlessUnproven(removing, order, observations);
  const attached = await volumesLeavingOf(cluster, before.node);
  if (attached > 0 && before.silentForMs < DETACH_TIMEOUT_MS) throw new Conflict(`${attached} volumes are still attached to node ${target.name}`);
  const read = await reader?.readAnew(before.fence);
  if (read !== undefined && 'doubt' in read) throw new Error(`node ${target.name} is not deleted: ${read.doubt}`);
  const { resourceVersion } = (read === undefined ? before : await unlessUnproven(removing, order, observations)).node.metadata;
  await cluster.remove(NODES, target.name, {
    uid: target.uid,
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(read !== undefined && { beforeSend: unlessOld(clock, read) }),
  });
  observations.delete(target.uid);
  return attached;
}

async function unlessUnproven(
  { clock, cluster, unlessTakenBack }: Removing,
  { target, fence: named }: Order,
  observations: LeaseObservations,
): Promise<{ node: Node; fence: NodeFence; silentForMs: number }> {
  const [fence, node, lease, stop] = await Promise.all([
    cluster.get(NODE_FENCES, named.name),
    cluster.get(NODES, target.name),
    cluster.get(LEASES, target.name, NODE_LEASE_NAMESPACE),
    activeStop(cluster, target.name),
    unlessTakenBack(),
  ]);
  if (stop !== undefined) throw new Conflict(stop);
  if (fence?.metadata.uid !== named.uid || !fenceFactsOf(fence).isOff)
    throw new Conflict(`NodeFence ${named.name} holds no proof of an off any more`);
  if (node?.metadata.uid !== target.uid || node.metadata.uid !== fence.status?.frozen?.nodeUID) {
    throw new Conflict(`node ${target.name} is another than the one that was fenced`);
  }
  const proof = fence.status.evidence.findLast(({ voidedAt }) => voidedAt === undefined);
  if (isAlive(node, proof?.bootID)) throw new Conflict(`node ${target.name} shows life`);
  const renewTime = lease?.spec.renewTime;
  const observation = observations.get(target.uid);
  if (observation === undefined || observation.renewTime !== renewTime) {
    observations.set(target.uid, { renewTime, seenMs: clock.monotonicMs() });
    throw new Conflict(`it is not known yet that the lease of node ${target.name} is no longer renewed`);
  }
  const silentForMs = clock.monotonicMs() - observation.seenMs;
  if (silentForMs < SILENCE_MS) throw new Conflict(`the lease of node ${target.name} has not stood still for long enough yet`);
  return { node, fence, silentForMs };
}

function isAlive({ status }: Node, bootID: string | undefined): boolean {
  const isReady = status.conditions?.some(({ type, status: word }) => type === 'Ready' && word === 'True') === true;
  return isReady || (bootID !== undefined && status.nodeInfo?.bootID !== undefined && status.nodeInfo.bootID !== bootID);
}
