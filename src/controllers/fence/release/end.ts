import { OUT_OF_SERVICE_TAINT } from '../../../domain/advance.ts';
import { EVIDENCE_RULES } from '../../../domain/evidence.ts';
import { bounded } from '../../../domain/node-fence.ts';
import type { Evidence, NodeFenceStatus, Released } from '../../../domain/node-fence.ts';
import { isPaced, isReleasable, podName } from '../../../domain/release-plan.ts';
import type { PodFacts, ReleaseChoice } from '../../../domain/release-plan.ts';
import { timestamp } from '../../../ports/clock.ts';
import { failureOf } from '../../../ports/jobs.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { releasablePods, workloadNow } from '../workload.ts';
import type { ReleaseReport } from './order.ts';
import { readTaintOwner, removeTaint } from './out-of-service.ts';
import { choiceOf } from './release.ts';

const NAMED_MAX = 4;

/** Takes our taint back and reads it absent; a foreign one stays (P8). `mayGoOn`: as in a release. */
export async function endRelease(
  dependencies: FenceDependencies,
  node: string,
  status: NodeFenceStatus,
  mayGoOn: () => void,
): Promise<ReleaseReport> {
  const { clock } = dependencies;
  const uid = status.frozen?.nodeUID;
  await removeTaint(dependencies, { name: node, ...(uid !== undefined && { uid }) }, mayGoOn);
  const owner = await readTaintOwner(dependencies, node);
  if (owner === 'ours') return { result: 'failed', message: 'our out-of-service taint is still set after it was removed' };
  const foreign = owner === 'foreign' ? `; the taint ${OUT_OF_SERVICE_TAINT.key} that nodefence did not set stays` : '';
  if (status.released === undefined || status.released.voidedAt !== undefined)
    return { result: 'succeeded', message: `our taint is gone; without waiting for pods and volumes${foreign}` };
  const left = await describeLeft(dependencies, node, status.released);
  const message = left === undefined ? 'no pod and no VolumeAttachment is left' : `release_timeout over: ${left}`;
  const end = left === undefined ? { volumesDetachedAt: timestamp(clock) } : { timedOut: true };
  return { result: 'succeeded', message: bounded(message + foreign), released: { ...status.released, ...end } };
}

/** What keeps the machine off, by name: `1 pods (web/db-0) and 1 VolumeAttachments (PersistentVolume pv-1 by csi-1) are left`. */
async function describeLeft(dependencies: FenceDependencies, node: string, released: Released): Promise<string | undefined> {
  const { pods: all, attachments } = await workloadNow(dependencies, node);
  const pods = all.filter(isReleasable);
  if (pods.length + attachments.length === 0) return undefined;
  const reasons = new Map(released.kept?.map(({ pod, by }) => [pod, by]));
  const volumeReasons = new Map(released.keptVolumes?.map(({ attachment, by }) => [attachment, by]));
  const podNames = named(pods.map((pod) => withReason(podName(pod), reasons.get(podName(pod)) ?? finalizersOf(pod))));
  const volumes = named(
    attachments.map(({ name, volume }) => withReason(`PersistentVolume ${volume ?? 'unknown'} by ${name}`, volumeReasons.get(name))),
  );
  return `${pods.length} pods${podNames} and ${attachments.length} VolumeAttachments${volumes} are left`;
}

function finalizersOf({ finalizers = [] }: PodFacts): string | undefined {
  return finalizers.length === 0 ? undefined : `finalizer${named(finalizers)}`;
}

function withReason(name: string, by: string | undefined): string {
  return by === undefined ? name : `${name}, kept: ${by}`;
}

function named(names: readonly string[]): string {
  if (names.length === 0) return '';
  const rest = names.length - NAMED_MAX;
  return ` (${names.slice(0, NAMED_MAX).join(', ')}${rest > 0 ? ` and ${rest} more` : ''})`;
}

/** What became of a release that a crash cut off. Where pods were deleted nobody knows how many are gone: it counts as begun, and goes on. */
export async function recoverRelease(
  dependencies: FenceDependencies,
  order: { node: string; status: NodeFenceStatus },
  action: 'release' | 'release-end',
): Promise<ReleaseReport> {
  const { node, status } = order;
  const plan = status.frozen?.plan;
  const choice = plan === undefined ? undefined : choiceOf(plan, dependencies.options.outOfService);
  const proof = status.evidence.findLast(({ kind }) => EVIDENCE_RULES[kind].scopedToStorage === (status.step === 'isolation'));
  const mayHaveGone = choice === undefined || proof === undefined ? undefined : mayHaveFreed(dependencies, status, choice, proof);
  let isOurs: boolean;
  try {
    isOurs = (await readTaintOwner(dependencies, node)) === 'ours';
  } catch (error) {
    // Whether it let something go nobody knows: it stays on record as one that has, so that a sign of life ends it as such (P2).
    if (action === 'release-end' || mayHaveGone === undefined) throw error;
    return { ...failureOf(error), ...mayHaveGone };
  }
  const message = `after a crash our taint is ${isOurs ? 'set' : 'not set'}`;
  if (action === 'release-end') return { result: isOurs ? 'found-not-done' : 'found-done', message };
  if (isOurs && status.step !== 'isolation') return { result: 'found-done', message, released: releasedByTaint(dependencies, node, status) };
  if (choice === undefined || proof === undefined || isTaintOnly(choice, proof)) return { result: 'found-not-done', message };
  return {
    result: 'interrupted',
    message: `${message}; which pods were let go before it is not known`,
    ...mayHaveGone,
  };
}

function releasedByTaint({ listers, clock }: FenceDependencies, node: string, { released: before, evidence }: NodeFenceStatus): Released {
  const released = {
    by: 'out-of-service' as const,
    at: before?.at ?? timestamp(clock),
    pods: (before?.pods ?? 0) + releasablePods(listers, node).length,
    evidence: before?.evidence ?? evidence.at(-1)?.source ?? '',
  };
  return before === undefined ? released : { ...released, left: 0, batch: (before.batch ?? 0) + 1 };
}

/** Nothing is deleted before the taint, or without it: where it does not stand, nothing was let go. */
function isTaintOnly(choice: ReleaseChoice, { kind }: Evidence): boolean {
  return choice.mode === 'out-of-service' && EVIDENCE_RULES[kind].permitsTaint && !isPaced(choice);
}

/** A release that may have let pods go, and has more to do. */
function mayHaveFreed(
  { clock }: FenceDependencies,
  { step, released, storageRelease }: NodeFenceStatus,
  { mode }: ReleaseChoice,
  proof: Evidence,
): Pick<ReleaseReport, 'released' | 'storageRelease'> {
  const before = step === 'isolation' ? storageRelease : released;
  const common = {
    at: before?.at ?? timestamp(clock),
    pods: before?.pods ?? 0,
    evidence: proof.source,
    left: Math.max(1, before?.left ?? 0),
    batch: (before?.batch ?? 0) + 1,
  };
  if (step !== 'isolation') return { released: { by: mode === 'evict' ? 'evict' : 'delete-pods', ...common } };
  const storages = [...new Set([...(storageRelease?.storages ?? []), ...(proof.storages ?? [])])];
  return { storageRelease: { ...common, storages, ...(proof.bootID === undefined ? {} : { bootID: proof.bootID }) } };
}
