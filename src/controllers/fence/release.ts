import { OUT_OF_SERVICE_TAINT } from '../../domain/advance.ts';
import { fenceName } from '../../domain/node-fence.ts';
import type { Evidence, JobResult, NodeFenceStatus, Released } from '../../domain/node-fence.ts';
import type { JobReport } from '../../domain/snapshot.ts';
import { ApiStatusError } from '../../ports/api-transport.ts';
import { timestamp } from '../../ports/clock.ts';
import type { Node, Pod } from '../../ports/objects.ts';
import { LEASES, NODE_LEASE_NAMESPACE, NODES, PODS, VOLUME_ATTACHMENTS } from '../../ports/resources.ts';
import { BY_NODE } from './dependencies.ts';
import type { FenceDependencies } from './dependencies.ts';
import { readyOf } from './observation.ts';
import { OUT_OF_SERVICE_OWNER } from './ownership.ts';
import { releasablePods } from './workload.ts';

export type ReleaseReport = Pick<JobReport, 'result' | 'message' | 'released'>;

/** What a release may rest on, and what it must find unchanged in the API. */
export interface ReleaseOrder {
  node: string;
  status: NodeFenceStatus;
  proof: Evidence;
  /** Lease renewTime as last received; another one at the quorum is a sign of life. */
  renewTime: string | undefined;
  /** Throws when a stop, a hold or a lost lease forbids to begin or go on. */
  mayGoOn(): void;
}

const BATCH = 20;
const CONFLICTS_MAX = 5;

/** A sign of life at the API's quorum: the proof is void and nothing is released (P2). */
class LifeSeen extends Error {}

/** Frees the workload of a node that is proven off. Node and Lease are read from the quorum first, and again before each batch. */
export async function release(dependencies: FenceDependencies, order: ReleaseOrder): Promise<ReleaseReport> {
  const { options, listers } = dependencies;
  const mode = order.status.frozen?.plan.release ?? 'none';
  const by = mode === 'auto' ? (options.outOfService ? 'out-of-service' : 'delete-pods') : mode;
  if (by === 'none') return { result: 'voided', message: 'release=none' };
  const pods = releasablePods(listers, order.node);
  let kept = 0;
  try {
    if (by === 'out-of-service') await taint(dependencies, order);
    else if (by === 'evict') kept = await evict(dependencies, order, pods);
    else await deletePods(dependencies, order, pods);
  } catch (error) {
    if (error instanceof LifeSeen) return { result: 'voided', message: error.message };
    throw error;
  }
  const released: Released = { by, at: timestamp(dependencies.clock), pods: pods.length - kept, evidence: order.proof.source };
  const words = kept === 0 ? '' : `; a PodDisruptionBudget keeps ${kept} more, until release_timeout`;
  return { result: 'succeeded', message: `${by}: ${pods.length - kept} pods of ${order.node} on ${order.proof.kind}${words}`, released };
}

/** A fresh Node, after Node and Lease have shown no life since the last off read. */
async function silentNode(dependencies: FenceDependencies, order: ReleaseOrder): Promise<Node> {
  const { cluster } = dependencies;
  const [node, lease] = await Promise.all([cluster.get(NODES, order.node), cluster.get(LEASES, order.node, NODE_LEASE_NAMESPACE)]);
  order.mayGoOn();
  if (node === undefined || node.metadata.uid !== order.status.frozen?.nodeUID)
    throw new LifeSeen('the Node is gone or was replaced: nothing is released for it');
  if (lease?.spec.renewTime !== undefined && lease.spec.renewTime !== order.renewTime)
    throw new LifeSeen(`the lease was renewed at ${lease.spec.renewTime}, after the last off read`);
  if (order.proof.bootID !== undefined && node.status.nodeInfo?.bootID !== order.proof.bootID)
    throw new LifeSeen(`boot ID ${node.status.nodeInfo?.bootID ?? 'none'} appeared after the off`);
  if (readyOf(node)?.status === 'True') throw new LifeSeen('the Node is Ready');
  return node;
}

async function taint(dependencies: FenceDependencies, order: ReleaseOrder): Promise<void> {
  await onFreshNode(async () => {
    const node = await silentNode(dependencies, order);
    const taints = node.spec.taints ?? [];
    if (taints.some((item) => item.key === OUT_OF_SERVICE_TAINT.key && item.effect === OUT_OF_SERVICE_TAINT.effect)) return;
    await dependencies.cluster.mergePatch(NODES, order.node, {
      metadata: { resourceVersion: node.metadata.resourceVersion, annotations: { [OUT_OF_SERVICE_OWNER]: fenceName(order.node) } },
      spec: { taints: [...taints, OUT_OF_SERVICE_TAINT] },
    });
  });
}

async function deletePods(dependencies: FenceDependencies, order: ReleaseOrder, pods: readonly Pod[]): Promise<void> {
  const { cluster, listers } = dependencies;
  for (let index = 0; index < Math.max(pods.length, 1); index += BATCH) {
    await silentNode(dependencies, order);
    await Promise.all(
      pods.slice(index, index + BATCH).map((pod) => cluster.remove(PODS, pod.metadata.name, { ...place(pod), gracePeriodSeconds: 0 })),
    );
  }
  await silentNode(dependencies, order);
  const attachments = listers.volumeAttachments.byIndex(BY_NODE, order.node);
  await Promise.all(attachments.map((attachment) => cluster.remove(VOLUME_ATTACHMENTS, attachment.metadata.name, uidOf(attachment.metadata.uid))));
}

/** Returns how many pods a budget keeps: their node is not kept off for them longer than `release_timeout`. */
async function evict(dependencies: FenceDependencies, order: ReleaseOrder, pods: readonly Pod[]): Promise<number> {
  let kept = 0;
  for (const pod of pods) {
    await silentNode(dependencies, order);
    try {
      await dependencies.cluster.evict(pod.metadata.name, pod.metadata.namespace ?? 'default');
    } catch (error) {
      if (!(error instanceof ApiStatusError) || (error.status !== 429 && error.status !== 404)) throw error;
      if (error.status === 429) kept += 1;
    }
  }
  return kept;
}

/** Takes our taint back and reads it absent; a foreign one stays (P8). */
export async function endRelease(dependencies: FenceDependencies, node: string, status: NodeFenceStatus): Promise<ReleaseReport> {
  const { cluster, clock, listers } = dependencies;
  await onFreshNode(async () => {
    const fresh = await cluster.get(NODES, node);
    if (fresh === undefined || fresh.metadata.annotations?.[OUT_OF_SERVICE_OWNER] === undefined) return;
    await cluster.mergePatch(NODES, node, {
      metadata: { resourceVersion: fresh.metadata.resourceVersion, annotations: { [OUT_OF_SERVICE_OWNER]: null } },
      spec: { taints: (fresh.spec.taints ?? []).filter((item) => item.key !== OUT_OF_SERVICE_TAINT.key) },
    });
  });
  if (await isTaintedByUs(dependencies, node)) return { result: 'failed', message: 'our out-of-service taint still stands after it was taken back' };
  if (status.released === undefined || status.released.voidedAt !== undefined)
    return { result: 'succeeded', message: 'our taint is gone; nothing was waited for' };
  const attachments = listers.volumeAttachments.byIndex(BY_NODE, node).length;
  const left = releasablePods(listers, node).length;
  const timedOut = attachments > 0 || left > 0;
  const message = timedOut
    ? `release_timeout over: ${left} pods and ${attachments} VolumeAttachments are left`
    : 'no pod and no VolumeAttachment is left';
  const end = timedOut ? { timedOut: true } : { volumesDetachedAt: timestamp(clock) };
  return { result: 'succeeded', message, released: { ...status.released, ...end } };
}

export async function isTaintedByUs(dependencies: FenceDependencies, node: string): Promise<boolean> {
  const fresh = await dependencies.cluster.get(NODES, node);
  return (
    fresh?.metadata.annotations?.[OUT_OF_SERVICE_OWNER] !== undefined &&
    (fresh.spec.taints ?? []).some((item) => item.key === OUT_OF_SERVICE_TAINT.key)
  );
}

/** What became of a release that a crash cut off. */
export async function recoverRelease(
  dependencies: FenceDependencies,
  order: Omit<ReleaseOrder, 'proof' | 'mayGoOn' | 'renewTime'>,
  action: 'release' | 'release-end',
): Promise<ReleaseReport> {
  const tainted = await isTaintedByUs(dependencies, order.node);
  const done: JobResult = (action === 'release') === tainted ? 'found-done' : 'found-not-done';
  const message = `after a crash our taint ${tainted ? 'stands' : 'does not stand'}`;
  if (action === 'release' && tainted) {
    const source = order.status.evidence.at(-1)?.source ?? '';
    return {
      result: done,
      message,
      released: {
        by: 'out-of-service',
        at: timestamp(dependencies.clock),
        pods: releasablePods(dependencies.listers, order.node).length,
        evidence: source,
      },
    };
  }
  return { result: done, message };
}

/** Somebody else changed the Node between read and write: read again, a few times. */
async function onFreshNode(change: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await change();
      return;
    } catch (error) {
      if (!(error instanceof ApiStatusError) || error.status !== 409 || tries >= CONFLICTS_MAX) throw error;
    }
  }
}

function place(pod: Pod): { namespace?: string; uid?: string } {
  return { ...(pod.metadata.namespace === undefined ? {} : { namespace: pod.metadata.namespace }), ...uidOf(pod.metadata.uid) };
}

function uidOf(uid: string | undefined): { uid?: string } {
  return uid === undefined ? {} : { uid };
}
