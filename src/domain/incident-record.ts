import { describeHold, pastHold } from './conditions.ts';
import { bounded, LIMITS, NEVER_BEGAN } from './node-fence.ts';
import type { NodeFenceStatus, Outcome, Timeline, Trigger } from './node-fence.ts';
import type { EvidenceKind } from './plan.ts';
import { mayHaveReleased } from './program.ts';

/** One fence of a node as its NodeFenceReport keeps it: it outlives the NodeFence. Times are RFC 3339, by the controller's own wall clock. */
export interface IncidentRecord {
  incident: number;
  startedAt: string;
  /** Absent: it is not over. */
  endedAt?: string;
  /** `failed` without `endedAt`: it gave up, and a person must act. Absent: under way, or its NodeFence vanished. */
  outcome?: Outcome;
  /** It is over, and its node was at most cordoned. */
  cordonedOnly?: boolean;
  trigger: Trigger['kind'];
  /** Kinds of evidence that were found, also those that were voided later. */
  evidence: EvidenceKind[];
  /** What last held it, or stopped it, in words. */
  heldBy?: string;
  /** Pods were let go, or may have been, because these storages were closed to this boot: they stay closed to it, also where its NodeFence is gone (P1). */
  revoked?: Revoked;
  timeline: Timeline;
  /** Its last words. */
  summary: string;
}

export interface Revoked {
  bootID: string;
  storages: string[];
}

export const RECORDS_MAX = 32;

/** A node's record of its fences, and the last incident that a person has forgiven it. */
export interface FenceRecord {
  incidents: readonly IncidentRecord[];
  /** Incidents up to this number count against nothing: a person resumed the node after them. */
  resumedAfter?: number;
}

const CORDONS: ReadonlySet<string> = new Set(['cordon', 'uncordon']);

/** Nothing else was done to the node or its workload, for sure: a full journal may have lost what was. */
export function isCordonedOnly({ journal }: NodeFenceStatus): boolean {
  return journal.length < LIMITS.journal && journal.every((run) => CORDONS.has(run.agent) || NEVER_BEGAN.has(run.result));
}

/** The record of the incident that a NodeFence holds now; `undefined` before anything was done. */
export function recordOf(status: NodeFenceStatus, before: IncidentRecord | undefined): IncidentRecord | undefined {
  const { incident, state, outcome, timeline, evidence, hold, trigger, message } = status;
  if (state === 'new' && status.restarts === 0 && status.journal.length === 0) return undefined;
  const kinds = [...new Set([...(before?.evidence ?? []), ...evidence.map(({ kind }) => kind)])];
  const heldBy = hold === undefined ? (pastHold(status) ?? before?.heldBy) : bounded(describeHold(hold));
  const endedAt = state === 'final' ? timeline.finalAt : undefined;
  const revoked = revokedBy(status);
  return {
    incident,
    startedAt: before?.startedAt ?? timeline.noticedAt ?? timeline.failedAt ?? '',
    ...(endedAt === undefined ? {} : { endedAt }),
    ...(outcome === undefined ? {} : { outcome }),
    ...(endedAt !== undefined && isCordonedOnly(status) ? { cordonedOnly: true } : {}),
    trigger: trigger?.kind ?? 'node-condition',
    evidence: kinds,
    ...(heldBy === undefined ? {} : { heldBy }),
    ...(revoked === undefined ? {} : { revoked }),
    timeline,
    summary: bounded(message ?? ''),
  };
}

/** A release that has been begun counts: it may have let pods go before anybody says so. */
export function revokedBy({ storageRelease, journal, evidence }: NodeFenceStatus): Revoked | undefined {
  if (storageRelease?.bootID !== undefined) return { bootID: storageRelease.bootID, storages: storageRelease.storages };
  const begun = journal.findLast((entry) => entry.step === 'isolation' && mayHaveReleased(entry));
  const storages = evidence.findLast(({ kind }) => kind === 'storage-revoked')?.storages ?? [];
  return begun?.bootID === undefined ? undefined : { bootID: begun.bootID, storages };
}

/** What has changed so that it is worth a write: not each step of the timeline. */
export function isWorthWriting(before: IncidentRecord | undefined, after: IncidentRecord): boolean {
  const key = ({ outcome, endedAt, evidence, heldBy, revoked }: IncidentRecord): string =>
    JSON.stringify([outcome, endedAt, evidence, heldBy?.split(':')[0], revoked?.bootID, revoked?.storages]);
  return before === undefined || key(before) !== key(after);
}

/** The record with this incident in its place, oldest first, bounded. */
export function withIncident(incidents: readonly IncidentRecord[], changed: IncidentRecord): IncidentRecord[] {
  const others = incidents.filter(({ incident }) => incident !== changed.incident);
  return [...others, changed].sort((left, right) => left.incident - right.incident).slice(-RECORDS_MAX);
}

const RECOVERED: ReadonlySet<Outcome | undefined> = new Set(['recovered', 'untouched', 'replaced']);

const ENDED_OTHERWISE: ReadonlySet<Outcome | undefined> = new Set(['node-gone', 'stopped', 'fenced-off']);

/** Incidents in a row, the newest last, that did not end with the node back at work. One whose Node went away, that was meant to end in off, or that a person ended, says nothing of the next one. */
export function unrecovered({ incidents, resumedAfter = 0 }: FenceRecord): readonly IncidentRecord[] {
  const counted = incidents.filter(({ incident, outcome }) => incident > resumedAfter && !ENDED_OTHERWISE.has(outcome));
  return counted.slice(counted.findLastIndex(({ outcome }) => RECOVERED.has(outcome)) + 1);
}
