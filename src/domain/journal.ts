import { isCutOff } from './acknowledgement.ts';
import { voidEvidence } from './evidence.ts';
import { bounded, LIMITS, NEVER_BEGAN, SCALE_DOWN_DISABLED } from './node-fence.ts';
import type { Evidence, JournalEntry, NodeFenceStatus, Restore } from './node-fence.ts';
import type { PlanMethod } from './plan.ts';
import { isFailure } from './program.ts';
import type { JobReport } from './snapshot.ts';

/**
 * Writes the results of finished runs into the journal, with what follows from each: evidence, retries, timeline, what must be undone.
 * A report whose entry is gone or already finished changes nothing, so folding twice is folding once.
 */
export function fold(status: NodeFenceStatus, reports: readonly JobReport[]): NodeFenceStatus {
  return reports.reduce(foldOne, status);
}

function foldOne(status: NodeFenceStatus, report: JobReport): NodeFenceStatus {
  const entry = status.journal.find((candidate) => candidate.id === report.id);
  if (entry?.finishedAt !== undefined || entry === undefined) return status;
  const finished: JournalEntry = { ...entry, finishedAt: report.finishedAt, result: report.result, message: bounded(report.message) };
  if (report.edgeUnseen === true) finished.edgeUnseen = true;
  if (report.offSent !== undefined) finished.offSent = report.offSent;
  if (report.restarted !== undefined) finished.restarted = report.restarted.slice(0, LIMITS.restarted);
  const next: NodeFenceStatus = { ...status, journal: status.journal.map((candidate) => (candidate === entry ? finished : candidate)) };
  if (isFailure(finished) && entry.action !== 'acknowledge') next.retries = status.retries + 1;
  if (report.evidence !== undefined) {
    next.evidence = [...status.evidence, { ...report.evidence, source: report.id, detail: bounded(report.evidence.detail) }].slice(-LIMITS.evidence);
    if (report.evidence.kind !== 'ack' && report.evidence.kind !== 'storage-revoked' && report.evidence.kind !== 'kdump')
      next.timeline = { ...next.timeline, poweredOffAt: report.evidence.observedAt };
  }
  if (isUnproven(entry, report)) next.evidence = withoutProofOf(entry, next, report.finishedAt);
  if (report.released !== undefined) {
    next.released = { ...status.released, ...report.released };
    const detached = report.released.volumesDetachedAt;
    next.timeline = {
      ...next.timeline,
      releasedAt: next.timeline.releasedAt ?? report.released.at,
      ...(detached === undefined ? {} : { volumesDetachedAt: detached }),
    };
  }
  if (report.storageRelease !== undefined) {
    next.storageRelease = { ...status.storageRelease, ...report.storageRelease };
    next.timeline = { ...next.timeline, releasedAt: next.timeline.releasedAt ?? report.storageRelease.at };
  }
  if (entry.action === 'release' && report.result === 'voided') Object.assign(next, lifeInMidRelease(next, report));
  // A word that does not count any more between two batches leaves what was let go on it as life in mid-release does.
  if (entry.action === 'acknowledge' && report.result === 'refused') Object.assign(next, lifeInMidRelease(next, report, isCutOff(status)));
  if (report.edge !== undefined) next.restore = withEdge(status.restore ?? {}, finished, report.edge);
  if (report.taintFound !== undefined) next.restore = { ...next.restore, taints: [report.taintFound] };
  if (entry.action === 'delete' && (report.result === 'succeeded' || report.result === 'found-done'))
    Object.assign(next, withoutMachine(next, entry));
  if (report.edge === 'on') next.timeline = { ...next.timeline, poweredOnAt: report.finishedAt };
  if (report.result === 'succeeded' || report.result === 'found-done') next.restore = withoutUndone(next.restore ?? {}, finished);
  if (next.restore !== undefined && Object.keys(next.restore).length === 0) delete next.restore;
  return next;
}

/** It was waited for, and nothing was proven. */
function isUnproven({ step, action }: JournalEntry, { result, evidence }: JobReport): boolean {
  return step === 'power-management' && action === 'run' && result === 'succeeded' && evidence === undefined;
}

/** What an earlier run of the same operation had proven could not be read again, or it would not have been waited for anew: nothing more rests on it. */
function withoutProofOf({ operation }: JournalEntry, { evidence, journal }: NodeFenceStatus, at: string): Evidence[] {
  const sources = new Set(journal.filter((other) => other.operation === operation && other.step === 'power-management').map(({ id }) => id));
  return evidence.map((item) =>
    sources.has(item.source) ? (voidEvidence([item], at, 'it was waited for anew, and nothing was proven')[0] ?? item) : item,
  );
}

/** The proof is void; where something had been let go on it before, nothing is switched on by itself any more (P2). `isOfOther`: on another proof. */
function lifeInMidRelease(status: NodeFenceStatus, { finishedAt, message }: JobReport, isOfOther = false): Partial<NodeFenceStatus> {
  const evidence = voidEvidence(status.evidence, finishedAt, bounded(message));
  const { released } = status;
  if (released === undefined || isOfOther || status.step === 'isolation' || released.voidedAt !== undefined) return { evidence };
  return { evidence, released: { ...released, voidedAt: finishedAt } };
}

/** Deleted for good: nothing of it is left to switch on again, whoever deletes this fence (P8). */
function withoutMachine({ evidence, restore }: NodeFenceStatus, entry: JournalEntry): Pick<NodeFenceStatus, 'evidence' | 'restore'> {
  const ended = evidence.map((item) => (item.voidedAt === undefined && item.kind !== 'storage-revoked' ? { ...item, terminated: true } : item));
  return { evidence: ended, ...(restore === undefined ? {} : { restore: withEdge(restore, entry, 'on') }) };
}

function withEdge(restore: Restore, entry: JournalEntry, edge: NonNullable<JobReport['edge']>): Restore {
  const others = (restore.edges ?? []).filter((other) => other.device !== entry.device || other.plug !== entry.plug);
  const edges =
    edge === 'off' || edge === 'closed'
      ? [...others, { method: entry.method, agent: entry.agent, device: entry.device, plug: entry.plug, state: edge }]
      : others;
  const rest = { ...restore };
  delete rest.edges;
  return edges.length === 0 ? rest : { ...rest, edges };
}

function withoutUndone(restore: Restore, entry: JournalEntry): Restore {
  const rest = { ...restore };
  if (entry.agent === 'uncordon') {
    delete rest.cordoned;
    delete rest.annotations;
  }
  if (entry.action === 'release-end') delete rest.taints;
  return rest;
}

/** What an intent makes necessary to take back one day; written with the intent, before the call (P8). */
export function restoreFor(
  entry: JournalEntry,
  restore: Restore | undefined,
  outOfServiceTaint: { key: string; value: string; effect: string },
): Restore | undefined {
  if (entry.agent === 'cordon' && entry.action !== 'confirm')
    return { ...restore, cordoned: true, annotations: { ...restore?.annotations, [SCALE_DOWN_DISABLED]: 'true' } };
  if (entry.action === 'release' && entry.step !== 'isolation') return { ...restore, taints: [outOfServiceTaint] };
  return restore;
}

/**
 * Makes room for one more entry: the oldest finished ones go, never an open one, one that standing evidence names, or the last word on an operation of
 * this restart, by which the program knows how far it has come.
 */
export function appended(status: NodeFenceStatus, entry: JournalEntry): JournalEntry[] {
  const journal = [...status.journal, entry];
  while (journal.length > LIMITS.journal) {
    const finished = (old: JournalEntry): boolean =>
      old.finishedAt !== undefined && !status.evidence.some((item) => item.source === old.id && item.voidedAt === undefined);
    const repeated = journal.findIndex((old, at) => finished(old) && !(old.restart === status.restarts && isLastWord(journal, at)));
    const index = repeated >= 0 ? repeated : journal.findIndex(finished);
    if (index < 0) break;
    journal.splice(index, 1);
  }
  return journal;
}

function isLastWord(journal: readonly JournalEntry[], at: number): boolean {
  const entry = journal[at];
  return !journal.some(
    (other, index) => index > at && other.restart === entry?.restart && other.level === entry.level && other.operation === entry.operation,
  );
}

export function openEntries(status: NodeFenceStatus): JournalEntry[] {
  return status.journal.filter((entry) => entry.finishedAt === undefined);
}

/**
 * An earlier run of this method, before that of this id, has sent its off to this plug in this incident, and nothing has been switched on or seen to come back since: what
 * holds the machine off now is ours (P1), also where this run's program finds it off and sends nothing.
 */
export function offWasSent({ journal }: NodeFenceStatus, id: string, { name, agent, device, plug }: PlanMethod): boolean {
  const runs = journal.filter((other) => other.id !== id && other.device === device && other.plug === plug);
  const sent = runs.findLastIndex((other) => other.offSent === true && other.method === name && other.agent === agent);
  return sent > runs.findLastIndex(({ action, result }) => action === 'on' || (action === 'confirm' && result === 'found-not-done'));
}

/** The method's device restarted between an off and its proof, and no off of the method has been proven since, by another run than that of this id. */
export function restartedSince({ journal }: NodeFenceStatus, id: string, { name }: PlanMethod): boolean {
  const restarted = journal.findLastIndex((other) => other.id !== id && other.restarted?.includes(name) === true);
  return restarted > journal.findLastIndex((other) => other.method === name && other.action === 'off' && other.result === 'succeeded');
}

/** An off that may have been sent in this restart, whether or not it was verified: from then on the program is carried through. */
export function offBegan(status: NodeFenceStatus): boolean {
  return status.journal.some(
    (entry) => entry.restart === status.restarts && entry.action === 'off' && entry.step === 'power-management' && mayHaveLeft(entry),
  );
}

/** One whose device did not answer the read before it has switched nothing: a node that comes back by then is left alone, and a hold holds. */
export function mayHaveLeft({ result, offSent }: Pick<JournalEntry, 'result' | 'offSent'>): boolean {
  return !NEVER_BEGAN.has(result) && offSent !== false;
}

/** Isolates, makes the kernel dump, switches off or deletes: what a hold forbids, and what takes a slot. Never an on, a confirm read, or what takes something back. */
export function cutsOff({ step, action, agent }: Pick<JournalEntry, 'step' | 'action' | 'agent'>): boolean {
  return action === 'off' || action === 'delete' || action === 'diag' || (action === 'run' && step !== 'recovery' && agent !== 'uncordon');
}
