import { OUT_OF_SERVICE_TAINT } from '../../../domain/advance.ts';
import { bounded } from '../../../domain/node-fence.ts';
import type { JobResult, NodeFenceStatus } from '../../../domain/node-fence.ts';
import { podName } from '../../../domain/release-plan.ts';
import { timestamp } from '../../../ports/clock.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { attachmentsOf, releasablePods } from '../workload.ts';
import type { ReleaseReport } from './order.ts';
import { readTaintOwner, removeTaint } from './out-of-service.ts';

const NAMED_MAX = 4;

/** Takes our taint back and reads it absent; a foreign one stays (P8). */
export async function endRelease(dependencies: FenceDependencies, node: string, status: NodeFenceStatus): Promise<ReleaseReport> {
  const { clock } = dependencies;
  await removeTaint(dependencies, node);
  const owner = await readTaintOwner(dependencies, node);
  if (owner === 'ours') return { result: 'failed', message: 'our out-of-service taint still stands after it was taken back' };
  const foreign = owner === 'foreign' ? `; somebody else's taint ${OUT_OF_SERVICE_TAINT.key} stands and is theirs to take away` : '';
  if (status.released === undefined || status.released.voidedAt !== undefined)
    return { result: 'succeeded', message: `our taint is gone; nothing was waited for${foreign}` };
  const left = leftWords(dependencies, node);
  const message = left === undefined ? 'no pod and no VolumeAttachment is left' : `release_timeout over: ${left}`;
  const end = left === undefined ? { volumesDetachedAt: timestamp(clock) } : { timedOut: true };
  return { result: 'succeeded', message: bounded(message + foreign), released: { ...status.released, ...end } };
}

/** What keeps the machine off, by name: `1 pods (web/db-0) and 1 VolumeAttachments (PersistentVolume pv-1 by csi-1) are left`. */
function leftWords({ listers }: FenceDependencies, node: string): string | undefined {
  const pods = releasablePods(listers, node);
  const attachments = attachmentsOf(listers, node);
  if (pods.length + attachments.length === 0) return undefined;
  const podNames = named(pods.map(({ metadata }) => podName({ namespace: metadata.namespace ?? 'default', name: metadata.name })));
  const volumes = named(attachments.map(({ name, volume }) => `PersistentVolume ${volume ?? 'unknown'} by ${name}`));
  return `${pods.length} pods${podNames} and ${attachments.length} VolumeAttachments${volumes} are left`;
}

function named(names: readonly string[]): string {
  if (names.length === 0) return '';
  const rest = names.length - NAMED_MAX;
  return ` (${names.slice(0, NAMED_MAX).join(', ')}${rest > 0 ? ` and ${rest} more` : ''})`;
}

/** What became of a release that a crash cut off. Pods that it deleted are gone from the API: the next batch begins where it ended. */
export async function recoverRelease(
  dependencies: FenceDependencies,
  order: { node: string; status: NodeFenceStatus },
  action: 'release' | 'release-end',
): Promise<ReleaseReport> {
  const { node, status } = order;
  const owner = await readTaintOwner(dependencies, node);
  const isOurs = owner === 'ours';
  const done: JobResult = (action === 'release') === isOurs ? 'found-done' : 'found-not-done';
  const message = `after a crash our taint ${isOurs ? 'stands' : 'does not stand'}`;
  if (action !== 'release' || !isOurs || status.step === 'isolation')
    return { result: status.step === 'isolation' ? 'found-not-done' : done, message };
  const pods = releasablePods(dependencies.listers, node);
  const evidence = status.released?.evidence ?? status.evidence.at(-1)?.source ?? '';
  const before = status.released;
  const released = {
    by: 'out-of-service' as const,
    at: before?.at ?? timestamp(dependencies.clock),
    pods: (before?.pods ?? 0) + pods.length,
    evidence,
  };
  return { result: done, message, released: before === undefined ? released : { ...released, left: 0, batch: (before.batch ?? 0) + 1 } };
}
