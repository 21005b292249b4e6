import { bounded, LIMITS } from '../../../domain/node-fence.ts';
import type { JournalEntry, KeptPod, KeptVolume, NodeFenceStatus, Released } from '../../../domain/node-fence.ts';
import type { Plan } from '../../../domain/plan.ts';
import { mayHaveReleased } from '../../../domain/program.ts';
import { inTotal, isPaced, nextBatch, podName, releasePlan } from '../../../domain/release-plan.ts';
import type { AttachmentFacts, PodFacts, ReleaseChoice, ReleasePlan } from '../../../domain/release-plan.ts';
import { timestamp } from '../../../ports/clock.ts';
import { failureOf } from '../../../ports/jobs.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { letGo } from '../../shared/release/pods.ts';
import type { Course, LetGoOrder } from '../../shared/release/pods.ts';
import { workloadNow } from '../workload.ts';
import { detach } from './detach.ts';
import { LifeSeen, silentNode } from './order.ts';
import type { ReleaseOrder, ReleaseReport } from './order.ts';
import { setTaint } from './out-of-service.ts';
import type { TaintOwner } from './out-of-service.ts';
import { podsWithStorages } from './storage.ts';

/** What one operation came to. */
interface Progress extends Course {
  taint: Exclude<TaintOwner, 'nobody'> | undefined;
  mayHaveDetached: boolean;
  /** Pods that were asked for the first time. */
  fresh: readonly PodFacts[];
  /** Nothing stopped it before its end. */
  isThrough: boolean;
}

/**
 * Frees the workload of a node within what its proof permits, or the next batch of it. Node and Lease are read consistently first, and again before
 * each handful of pods. What was done before it had to stop is told in the report, whatever stopped it.
 */
export async function release(dependencies: FenceDependencies, order: ReleaseOrder): Promise<ReleaseReport> {
  const plan = order.status.frozen?.plan;
  const choice = plan === undefined ? undefined : choiceOf(plan, dependencies.options.outOfService);
  if (plan === undefined || choice === undefined) return { result: 'voided', message: 'release=none' };
  const progress: Progress = { freed: [], gone: [], mayHaveDetached: false, taint: undefined, fresh: [], isThrough: false };
  const isScoped = order.status.step === 'isolation';
  let what: ReleasePlan | undefined;
  try {
    const now = await workloadNow(dependencies, order.node);
    const pods = isScoped ? await podsWithStorages(dependencies.cluster, order.node, plan) : now.pods;
    what = releasePlan(order.proof, choice, pods, now.attachments, begunAt(order.status));
    order.asked.keepOnly([...what.pods, ...what.attachments]);
    await carryOut(dependencies, order, { what, choice, progress });
    progress.isThrough = true;
    return reportOf(dependencies, order, { what, choice, progress });
  } catch (error) {
    const end = error instanceof LifeSeen ? { result: 'voided' as const, message: error.message } : failureOf(error);
    if (error instanceof LifeSeen && (what === undefined || !mayHaveLetGo(order, what, progress))) return end;
    if (what === undefined || !hasBegun(order, what, progress)) throw error;
    const so = reportOf(dependencies, order, { what, choice, progress });
    return { ...so, ...end, message: bounded(`${end.message}; before that, ${so.message}`) };
  }
}

/** When this release let go its first batch. What storage let go outlives a restart, and a recovery: then its journal says when it began anew. */
function begunAt({ step, restarts, released, storageRelease, journal }: NodeFenceStatus): string | undefined {
  if (step !== 'isolation') return released?.at;
  const isOwn = (entry: JournalEntry): boolean => entry.step === step && entry.restart === restarts && entry.finishedAt !== undefined;
  return storageRelease && journal.find((entry) => isOwn(entry) && mayHaveReleased(entry))?.startedAt;
}

/** Something was asked for. */
function hasBegun(order: ReleaseOrder, what: ReleasePlan, progress: Progress): boolean {
  return mayHaveLetGo(order, what, progress) || order.asked.keptOf([...what.pods, ...what.attachments]).length > 0;
}

/** Something was let go, or may have been: a pod that its budget kept, now or in a release before this one, was not. */
function mayHaveLetGo({ asked }: ReleaseOrder, { pods, attachments }: ReleasePlan, { freed, taint, mayHaveDetached }: Progress): boolean {
  const isUnsure = asked.keptOf([...pods, ...attachments]).some((kept) => kept.isUnsure === true);
  return freed.length > 0 || taint !== undefined || mayHaveDetached || isUnsure;
}

/** What the plan chose, resolved by what the server knows; `undefined`: nothing is let go. */
export function choiceOf({ release: mode, podsPerMinute, priorityOrder }: Plan, hasOutOfService: boolean): ReleaseChoice | undefined {
  if (mode === 'none') return undefined;
  const resolved = mode === 'auto' ? (hasOutOfService ? 'out-of-service' : 'delete-pods') : mode;
  return { mode: resolved, podsPerMinute, priorityOrder };
}

interface Doing {
  what: ReleasePlan;
  choice: ReleaseChoice;
  progress: Progress;
}

/** One that hangs or is refused holds up neither the others nor the taint; only volumes wait for the last pod. */
async function carryOut(dependencies: FenceDependencies, order: ReleaseOrder, { what, choice, progress }: Doing): Promise<void> {
  const batch = nextBatch({ batched: dueOf(dependencies, order, what.batched) }, choice);
  progress.fresh = batch.filter((pod) => !order.asked.wasAsked(pod));
  if (batch.length > 0) await letGo(dependencies, letGoOrder(dependencies, order), batch, what.treatment, progress);
  else if (!what.taint) await silentNode(dependencies, order);
  const left = leftOf(what, progress);
  if (left.some((pod) => !order.asked.wasAsked(pod))) return;
  if (what.taint) await taintAndTake(dependencies, order, what, progress);
  else if (left.length === 0) {
    await detach(dependencies, order, what.attachments, () => {
      progress.mayHaveDetached = true;
    });
  }
}

/** Kubernetes lets go what the taint concerns and detaches its volumes; what its garbage collector would delete in its next round, up to 20 s later, is deleted at once. */
async function taintAndTake(dependencies: FenceDependencies, order: ReleaseOrder, what: ReleasePlan, progress: Progress): Promise<void> {
  progress.taint = await setTaint(dependencies, order, () => {
    progress.taint = 'ours';
  });
  const left = what.taken.filter((pod) => !progress.freed.includes(pod) && !progress.gone.includes(pod));
  // Counted as what the taint lets go.
  await letGo(dependencies, letGoOrder(dependencies, order), dueOf(dependencies, order, left), what.treatment, { freed: [], gone: [] });
}

function letGoOrder(dependencies: FenceDependencies, order: ReleaseOrder): LetGoOrder {
  const { asked, mayGoOn, outlives } = order;
  return { asked, mayGoOn, outlives, verify: () => silentNode(dependencies, order) };
}

/** Those that may be asked for now; what was never asked for goes first. */
function dueOf({ clock }: FenceDependencies, { asked }: ReleaseOrder, pods: readonly PodFacts[]): readonly PodFacts[] {
  const nowMs = clock.monotonicMs();
  const due = pods.filter((pod) => asked.mayAsk(pod, nowMs));
  return [...due.filter((pod) => !asked.wasAsked(pod)), ...due.filter((pod) => asked.wasAsked(pod))];
}

/** What batches still have to let go. */
function leftOf({ batched }: ReleasePlan, { freed, gone }: Progress): readonly PodFacts[] {
  return batched.filter((pod) => !freed.includes(pod) && !gone.includes(pod));
}

function reportOf(dependencies: FenceDependencies, order: ReleaseOrder, doing: Doing): ReleaseReport {
  const { clock } = dependencies;
  const { what, progress } = doing;
  const { released, storageRelease, step } = order.status;
  const before = step === 'isolation' ? storageRelease : released;
  const freed = freedBy(doing, before);
  const late = goneSince(what, before);
  const kept = order.asked.keptOf(what.pods);
  const volumes = keptVolumesOf(order, what);
  const message = describeRelease(order, doing, { freed, late, kept, volumes: volumes.told });
  if (step === 'isolation' && freed.length + kept.length === 0 && before === undefined) return { result: 'succeeded', message };
  const waiting = progress.taint === undefined ? leftOf(what, progress) : [];
  const left = progress.isThrough ? waiting.length : Math.max(1, waiting.length);
  // What is not answered yet may be let go, and has had its turn in the pace; asked for again it has none.
  const isUnderWay = progress.fresh.some((pod) => order.asked.isAwaited(pod));
  const isFurther = freed.length > 0 || isUnderWay || progress.taint !== undefined || before === undefined;
  const isOnlyKept = progress.isThrough && left + volumes.standing.length > 0 && waiting.every((pod) => order.asked.wasAsked(pod));
  const againInMs = isOnlyKept ? order.asked.againInMs([...waiting, ...volumes.standing], clock.monotonicMs()) : 0;
  const common = {
    at: before?.at ?? timestamp(clock),
    pods: (before?.pods ?? 0) + freed.length + late.length,
    evidence: order.proof.source,
    names: [...new Set([...(before?.names ?? []), ...late, ...freed.map(podName)])].slice(0, LIMITS.podNames),
    ...(left + volumes.told.length > 0 || before !== undefined ? { left, batch: (before?.batch ?? 0) + (isFurther ? 1 : 0) } : {}),
    ...(kept.length > 0 || before?.kept !== undefined ? { kept: kept.slice(0, LIMITS.podNames) } : {}),
    ...(isOnlyKept || before?.againInMs !== undefined ? { againInMs } : {}),
  };
  if (step !== 'isolation') {
    const keptVolumes = volumes.told.length > 0 || released?.keptVolumes !== undefined ? { keptVolumes: volumes.told } : {};
    return { result: 'succeeded', message, released: { by: waysOf(doing), ...common, ...keptVolumes } };
  }
  const { bootID, storages = [] } = order.proof;
  const all = [...new Set([...(storageRelease?.storages ?? []), ...storages])];
  return { result: 'succeeded', message, storageRelease: { ...common, storages: all, ...(bootID === undefined ? {} : { bootID }) } };
}

/** Those that were asked for in vain: they stand, and what is told of the first of them. */
function keptVolumesOf({ asked }: ReleaseOrder, { attachments }: ReleasePlan): { standing: readonly AttachmentFacts[]; told: KeptVolume[] } {
  const told = asked.keptOf(attachments).map(({ pod: attachment, ...more }) => ({ attachment, ...more }));
  return { standing: attachments.filter((attachment) => asked.wasAsked(attachment)), told: told.slice(0, LIMITS.podNames) };
}

/** The taint lets go whatever is there, and what batches let go before it is gone or kept by a finalizer only. One that may have stood before has counted them. */
function freedBy({ what, progress }: Doing, before: Partial<Released> | undefined): readonly PodFacts[] {
  if (progress.taint === undefined) return progress.freed;
  if (before?.by === 'out-of-service') return [];
  return before === undefined
    ? what.pods
    : [...progress.freed, ...what.pods.filter((pod) => !progress.freed.includes(pod) && !progress.gone.includes(pod) && !pod.isForced)];
}

/** Nobody had said whether they were let go, and they are on the node no longer: they were. */
function goneSince({ pods }: ReleasePlan, before: Partial<Released> | undefined): string[] {
  const standing = new Set(pods.map(podName));
  return (before?.kept ?? []).filter(({ pod, isUnsure }) => isUnsure === true && !standing.has(pod)).map(({ pod }) => pod);
}

function waysOf({ choice, progress }: Doing): Released['by'] {
  if (progress.taint !== undefined) return 'out-of-service';
  return choice.mode === 'evict' ? 'evict' : 'delete-pods';
}

interface Counted {
  freed: readonly PodFacts[];
  late: readonly string[];
  kept: readonly KeptPod[];
  volumes: readonly KeptVolume[];
}

function describeRelease({ node, proof, status }: ReleaseOrder, { what, choice, progress }: Doing, { freed, late, kept, volumes }: Counted): string {
  const scope = status.step === 'isolation' ? `, whose writable volumes are all on ${(proof.storages ?? []).join(', ')}` : '';
  const parts = [`${waysOf({ what, choice, progress })}: ${inTotal(freed)}, of ${node} on ${proof.kind}${scope}`];
  if (progress.taint === 'foreign')
    parts.push('the Node has an out-of-service taint already that nodefence did not set: it is left as it is, and whoever set it must remove it');
  if (late.length > 0) parts.push(`gone since then: ${late.join(', ')}`);
  if (kept.length > 0)
    parts.push(`${kept.length} kept, asked for again until release_timeout: ${kept.map(({ pod, by }) => `${pod} (${by})`).join(', ')}`);
  if (volumes.length > 0) {
    const names = volumes.map(({ attachment, by }) => `${attachment} (${by})`).join(', ');
    parts.push(`${volumes.length} VolumeAttachment${volumes.length === 1 ? '' : 's'} kept, asked for again until release_timeout: ${names}`);
  }
  const waiting = progress.taint === undefined ? leftOf(what, progress).length - kept.length : 0;
  if (waiting > 0) parts.push(`${waiting} more follow${isPaced(choice) ? ' at the pace of pods_per_minute and priority_order' : ''}`);
  if (what.staying.length > 0) parts.push(`left alone, for they tolerate the out-of-service taint for ever: ${inTotal(what.staying)}`);
  if (what.madeSince.length > 0 && progress.taint === undefined)
    parts.push(`${inTotal(what.madeSince)}, made on ${node} since the release began: no batch is for what is made there again and again`);
  return bounded(parts.join('; '));
}
