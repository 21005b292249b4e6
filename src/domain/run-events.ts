import { bounded } from './node-fence.ts';
import type { JournalEntry, NodeFenceStatus } from './node-fence.ts';
import { hasFailed, isOfLeft, leftIn } from './program.ts';
import { event } from './transition.ts';
import type { DecisionEvent } from './transition.ts';

/** As much as an Event takes. */
const KEPT_WORDS_MAX = 1_000;
const VOLUMES_REMEDY =
  'The machine stays off and it is asked for again until release_timeout. Mend what refuses it (a webhook, a right), or delete the VolumeAttachment by hand while its node is off.';
const KEPT_REMEDY =
  'The other pods go on, and it is asked for again until release_timeout. Mend what refuses it (a webhook, a PodDisruptionBudget, a right), or delete the pod by hand while its node is off.';

/** What an operator reads of the runs whose results have just been folded in: each proof, release and start, and each failure. */
export function eventsOfRuns(before: NodeFenceStatus, after: NodeFenceStatus): DecisionEvent[] {
  if (before === after) return [];
  const open = new Set(before.journal.filter((entry) => entry.finishedAt === undefined).map((entry) => entry.id));
  const finished = after.journal.filter((entry) => open.has(entry.id) && entry.finishedAt !== undefined);
  return finished.flatMap((entry) => (entry.action === 'release' ? eventsOfRelease(entry, before, after) : eventsOfRun(entry, after)));
}

/** What was let go, and once for each pod that it was not. */
function eventsOfRelease(entry: JournalEntry, before: NodeFenceStatus, after: NodeFenceStatus): DecisionEvent[] {
  const [earlier, now] = entry.step === 'isolation' ? [before.storageRelease, after.storageRelease] : [before.released, after.released];
  const known = new Set(earlier?.kept?.map(({ pod }) => pod));
  const kept = (now?.kept ?? []).filter(({ pod }) => !known.has(pod));
  const isInVain = now !== undefined && now.pods === (earlier?.pods ?? 0) && leftIn(now) > 0;
  const told = [...(isInVain && entry.result === 'succeeded' ? [] : eventsOfRun(entry, after)), ...eventsOfVolumes(before.released, after.released)];
  if (kept.length === 0) return told;
  const message = kept.map(({ pod, by }) => `${pod} is not released: ${by}`).join('; ');
  return [...told, event('Warning', 'PodNotReleased', bounded(`${message}. ${KEPT_REMEDY}`, KEPT_WORDS_MAX))];
}

function eventsOfVolumes(earlier: NodeFenceStatus['released'], now: NodeFenceStatus['released']): DecisionEvent[] {
  const known = new Set(earlier?.keptVolumes?.map(({ attachment }) => attachment));
  const kept = (now?.keptVolumes ?? []).filter(({ attachment }) => !known.has(attachment));
  if (kept.length === 0) return [];
  const message = kept.map(({ attachment, by }) => `VolumeAttachment ${attachment} is not deleted: ${by}`).join('; ');
  return [event('Warning', 'VolumeNotReleased', bounded(`${message}. ${VOLUMES_REMEDY}`, KEPT_WORDS_MAX))];
}

function eventsOfRun(entry: JournalEntry, status: NodeFenceStatus): DecisionEvent[] {
  const message = entry.message ?? '';
  const place = `${entry.method} (${entry.agent}${entry.device === '' ? '' : ` at ${entry.device}`})`;
  if (entry.action === 'acknowledge' && entry.result === 'refused') return [event('Warning', 'AcknowledgementRefused', message)];
  if (entry.action === 'diag') return eventsOfDiag(entry, place);
  if (hasFailed(entry)) {
    const words = `${entry.action} by ${place} failed, attempt ${entry.attempt}: ${message}`;
    return [event('Warning', 'MethodFailed', isOfLeft(entry) ? `${words.replace(/\.?$/, '.')} The fence goes on; switch it on by hand.` : words)];
  }
  if (entry.result !== 'succeeded' && !(entry.action === 'delete' && entry.result === 'found-done')) return [];
  if (entry.action === 'acknowledge') return isOfLaterBatch(entry, status) ? [] : [event('Warning', 'Acknowledged', message)];
  const proof = status.evidence.find((item) => item.source === entry.id);
  if (proof?.kind === 'storage-revoked') return [event('Normal', 'StorageRevoked', `Proven by ${place}: ${message}`)];
  if (proof?.kind === 'watchdog' || proof?.kind === 'kdump') return [event('Normal', 'NodeProvenGone', `Proven by ${place}: ${message}`)];
  if (proof !== undefined) return isOfLaterBatch(entry, status) ? [] : [event('Normal', 'NodePoweredOff', `Proven by ${place}: ${message}`)];
  if (entry.action === 'release') return [event('Normal', 'WorkloadReleased', message)];
  if (entry.action === 'release-end' && status.released?.timedOut === true)
    return [event('Warning', 'ReleaseTimedOut', `${message}; the node is brought back nevertheless`)];
  if (entry.action === 'delete') return [event('Normal', 'InstanceDeleted', `By ${place}: ${message}`)];
  if (entry.action === 'on') return [event('Normal', 'NodePoweredOn', `By ${place}: ${message}`)];
  return [];
}

/** The machine is read, or a person's word weighed, anew for each batch of a release: what was told before the first is told. */
function isOfLaterBatch({ action }: JournalEntry, { released }: NodeFenceStatus): boolean {
  return (action === 'confirm' || action === 'acknowledge') && released !== undefined && released.voidedAt === undefined;
}

/** A dump that could not be had is no failure of the fence, and still worth to know. */
function eventsOfDiag(entry: JournalEntry, place: string): DecisionEvent[] {
  const message = entry.message ?? '';
  if (entry.result === 'succeeded') return [event('Normal', 'KernelDumpOrdered', `By ${place}: ${message}`)];
  if (entry.result === 'not-sent' || entry.result === 'stopped') return [];
  return [event('Warning', 'KernelDumpNotOrdered', `By ${place}: ${message}. The off goes ahead.`)];
}
