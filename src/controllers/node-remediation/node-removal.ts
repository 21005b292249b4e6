import { fenceFactsOf } from '../../domain/fence-facts.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import { LEASES, NODE_FENCES, NODE_LEASE_NAMESPACE, NODES } from '../../ports/resources.ts';
import { DETACH_TIMEOUT_MS, volumesLeavingOf } from '../shared/attached-volumes.ts';
import { Conflict } from '../shared/conflict.ts';
import { activeStop } from '../shared/stops.ts';
import type { Action } from './actions.ts';
import type { RemediationDependencies } from './dependencies.ts';

/** By the uid of the Node: its Lease as a consistent read first showed it, and when that was on our own clock. */
export type LeaseObservations = Map<string, { renewTime: string | undefined; seenMs: number }>;

/** A kubelet renews its Lease every 10 s; one that stood still for so long is nobody's. Kubernetes' own lease duration of a node. */
const SILENCE_MS = 40_000;

/**
 * Deletes the Node of a machine that stays off (P1, P2): on the standing proof of the NodeFence that is named, for the same Node and boot, with no stop on it,
 * not Ready, and after its Lease has been seen to stand still. Everything is read consistently right before it. Rejects with `Conflict` while any of it lacks,
 * and while its volumes are being detached, for as long as that may take. Resolves with how many of them it went with.
 */
export async function removeNode(
  { clock }: Pick<RemediationDependencies, 'clock'>,
  cluster: Cluster,
  { target, fence: named }: Extract<Action, { kind: 'delete-node' }>,
  observations: LeaseObservations,
): Promise<number> {
  const [fence, node, lease, stop] = await Promise.all([
    cluster.get(NODE_FENCES, named.name),
    cluster.get(NODES, target.name),
    cluster.get(LEASES, target.name, NODE_LEASE_NAMESPACE),
    activeStop(cluster, target.name),
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
  const attached = await volumesLeavingOf(cluster, node);
  if (attached > 0 && silentForMs < DETACH_TIMEOUT_MS) throw new Conflict(`${attached} volumes are still attached to node ${target.name}`);
  const { resourceVersion } = node.metadata;
  await cluster.remove(NODES, target.name, { uid: target.uid, ...(resourceVersion !== undefined && { resourceVersion }) });
  observations.delete(target.uid);
  return attached;
}

function isAlive({ status }: Node, bootID: string | undefined): boolean {
  const isReady = status.conditions?.some(({ type, status: word }) => type === 'Ready' && word === 'True') === true;
  return isReady || (bootID !== undefined && status.nodeInfo?.bootID !== undefined && status.nodeInfo.bootID !== bootID);
}
