import { LEADER_LEASE } from '../../manager/composition.ts';
import { fenceName } from '../../domain/node-fence.ts';
import type { Node, Pod } from '../../ports/objects.ts';
import { LEASES } from '../../ports/resources.ts';
import type { ClusterSession } from './cluster-session.ts';
import { pause } from './pause.ts';
import { FENCE_NAMESPACE } from './scene-configuration.ts';
import type { Replicas } from './replicas.ts';
import type { Watcher } from './watcher.ts';

/** A controller proves itself to the API server before it leads, which takes a busy machine its time. */
const LEADING_POLL_MS = 100;
const LEADING_TRIES = 600;

/** What the API server has of nodes or pods. */
interface Seen<T> {
  all(): Iterable<T>;
}

/** As many pods of the workload as there must be run and are ready. */
export function isSettled(watcher: { pods: Seen<Pod> }, replicas: number): boolean {
  const pods = [...watcher.pods.all()].filter((pod) => pod.metadata.name.startsWith('db-'));
  return pods.length === replicas && pods.every((pod) => isPodReady(pod) && pod.metadata.deletionTimestamp === undefined);
}

export function readyNodes(watcher: { nodes: Seen<Node> }): number {
  return [...watcher.nodes.all()].filter((node) =>
    node.status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True'),
  ).length;
}

export function isPodReady(pod: { status?: { phase?: string; conditions?: { type: string; status: string }[] } }): boolean {
  return (
    pod.status?.phase === 'Running' && (pod.status.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True')
  );
}

/** Leading, and every node's identity on record. */
export async function untilLeading(session: ClusterSession, replicas: Replicas): Promise<void> {
  for (let tries = 0; tries < LEADING_TRIES; tries += 1) {
    const lease = await session.cluster.get(LEASES, LEADER_LEASE, FENCE_NAMESPACE);
    const reports = await session.reports();
    if ((lease?.spec.holderIdentity ?? '') !== '' && session.nodes.every((node) => reports.includes(node))) return;
    await pause(LEADING_POLL_MS);
  }
  throw new Error(`no controller leads and knows every node after ${(LEADING_TRIES * LEADING_POLL_MS) / 1_000} s:\n${replicas.lastLines()}`);
}

/** The fence of this node has ended, well or not. */
export function isOver(watcher: Watcher, node: string): boolean {
  const status = watcher.fences.get(fenceName(node))?.status;
  return status?.state === 'final' || (status?.state === 'error' && status.outcome === 'failed');
}
