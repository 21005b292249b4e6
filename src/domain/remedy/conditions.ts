import { KUBELET_CONDITIONS } from './configuration.ts';
import type { ConditionStatus, Threshold } from './configuration.ts';

/**
 * Which conditions of a node stand, by our own clock: `lastTransitionTime` is never looked at. Pure; times are monotonic, of this process, but for `wallMs`.
 * A new leader counts anew from its own first observation: what it does comes later, never sooner.
 */

/** One condition of the Node as the API has it. */
export interface ConditionFact {
  readonly type: string;
  readonly status: string;
  /** `lastHeartbeatTime`, wall clock of whoever posts it; absent: it has none. */
  readonly heartbeatMs?: number | undefined;
}

export interface ObservedNode {
  readonly bootID?: string | undefined;
  /** Neither its Lease nor its heartbeat was renewed for `life_wait`, as received here. */
  readonly isSilent: boolean;
  readonly conditions: readonly ConditionFact[];
  /** Condition types that the node's own daemon looked at in this boot and found well. */
  readonly activelyClear: ReadonlySet<string>;
}

export interface RemedyClock {
  readonly monotonicMs: number;
  readonly wallMs: number;
  /** Since when the Node could be heard without a break: nothing is counted from before. */
  readonly freshSinceMs?: number | undefined;
}

/** What a condition says of a threshold now. `unsure`: neither that it matches nor that it is over. */
type Verdict = 'match' | 'clear' | 'unsure';

/** One threshold on one node. */
export interface Standing {
  readonly verdict: Verdict;
  /** It matched for its whole period, and was not clear for long enough since. */
  readonly isTripped: boolean;
  readonly matchedSinceMs?: number | undefined;
  readonly clearSinceMs?: number | undefined;
  /** Of the last match: the boot, and since when by the wall clock. */
  readonly matchedBootID?: string | undefined;
  readonly matchedSinceWallMs?: number | undefined;
  /** How long it had stood when it became clear. */
  readonly stoodMs?: number | undefined;
  readonly heartbeatMs?: number;
  /** When that heartbeat was first seen here. */
  readonly heartbeatSeenMs?: number;
  /** It was renewed before our eyes: whoever posts it runs, whatever its clock shows. */
  readonly isRenewed?: boolean;
  /** It would match, were its heartbeat believed. */
  readonly isDoubted?: boolean;
  /** A heartbeat of the boot before: it says nothing about this one. */
  readonly oldHeartbeatMs?: number;
  /** The last status that was sure, and when it changed; so many as the threshold counts. */
  readonly sure?: ConditionStatus;
  readonly changesMs: readonly number[];
}

/** Everything that is remembered of one node, by threshold. */
export interface ObservedConditions {
  readonly bootID?: string;
  readonly standings: Readonly<Record<string, Standing>>;
}

/** What another leader goes on from: nothing but what tripped. */
export interface PersistedConditions {
  readonly bootID?: string;
  readonly tripped: readonly { readonly threshold: string; readonly bootID?: string; readonly sinceWallMs: number }[];
}

/** A latched condition must be clear for as long as it stood, but no longer than this. */
export const LATCHED_CLEAR_MAX_MS = 86_400_000;

const NEVER: Standing = { verdict: 'unsure', isTripped: false, changesMs: [] };

export function observeConditions(
  previous: ObservedConditions | undefined,
  node: ObservedNode,
  thresholds: readonly Threshold[],
  now: RemedyClock,
): ObservedConditions {
  const bootID = node.bootID ?? previous?.bootID;
  const isNewBoot = previous?.bootID !== undefined && bootID !== previous.bootID;
  const standings = thresholds.map((threshold): [string, Standing] => {
    const known = previous !== undefined && Object.hasOwn(previous.standings, threshold.id) ? (previous.standings[threshold.id] ?? NEVER) : NEVER;
    return [threshold.id, observeOne(isNewBoot ? inNewBoot(known) : known, { node, bootID, threshold, now })];
  });
  return { ...(bootID !== undefined && { bootID }), standings: Object.fromEntries(standings) };
}

interface Observing {
  node: ObservedNode;
  bootID: string | undefined;
  threshold: Threshold;
  now: RemedyClock;
}

/** That it tripped is remembered; every clock begins anew, and the last heartbeat was of a machine that no longer runs. */
function inNewBoot(known: Standing): Standing {
  const { matchedSinceMs: _matched, clearSinceMs: _clear, stoodMs: _stood, sure: _sure, ...rest } = known;
  return { ...rest, changesMs: [], ...(known.heartbeatMs !== undefined && { oldHeartbeatMs: known.heartbeatMs }) };
}

function observeOne(known: Standing, observing: Observing): Standing {
  const { node, threshold } = observing;
  const fact = node.conditions.find(({ type }) => type === threshold.conditionType);
  const heard = withHeartbeat(known, fact, observing);
  const status = statusOf(heard, fact, observing);
  const counted = { ...withChanges(heard, status, observing), isDoubted: isDoubted(heard, fact, status, threshold) };
  return withVerdict(counted, verdictOf(counted, status, observing), observing);
}

function withHeartbeat(known: Standing, fact: ConditionFact | undefined, { threshold, now }: Observing): Standing {
  if (fact?.heartbeatMs === undefined || fact.heartbeatMs === known.heartbeatMs) return known;
  const { heartbeatMs = Infinity, heartbeatSeenMs = -Infinity } = known;
  // Behind a break, or long after the one before, it may have been posted long ago.
  const isWatched = heartbeatSeenMs >= Math.max(now.freshSinceMs ?? 0, now.monotonicMs - 2 * (threshold.heartbeatPeriodMs ?? 0));
  const isRenewed = isWatched && fact.heartbeatMs > heartbeatMs;
  return { ...known, heartbeatMs: fact.heartbeatMs, heartbeatSeenMs: now.monotonicMs, isRenewed };
}

function isDoubted(
  { oldHeartbeatMs }: Standing,
  fact: ConditionFact | undefined,
  status: ConditionStatus | undefined,
  { trigger }: Threshold,
): boolean {
  if (fact === undefined || trigger.kind !== 'status' || KUBELET_CONDITIONS.has(fact.type) || fact.heartbeatMs === oldHeartbeatMs) return false;
  return status !== fact.status && trigger.statuses.some((each) => each === fact.status);
}

/** What the condition says, where it can still be believed. */
function statusOf(heard: Standing, fact: ConditionFact | undefined, { node, threshold, now }: Observing): ConditionStatus | undefined {
  const status = (['True', 'False', 'Unknown'] as const).find((word) => word === fact?.status);
  if (fact === undefined || status === undefined) return undefined;
  if (KUBELET_CONDITIONS.has(fact.type)) return node.isSilent && fact.type !== 'Ready' ? 'Unknown' : status;
  const { heartbeatPeriodMs } = threshold;
  if (heartbeatPeriodMs === undefined || fact.heartbeatMs === undefined || heard.heartbeatSeenMs === undefined) return status;
  if (fact.heartbeatMs === heard.oldHeartbeatMs) return undefined;
  // By our own clock it is stale. By the poster's alone, clocks may differ: then nothing is concluded before it is seen to be renewed.
  if (now.monotonicMs > heard.heartbeatSeenMs + 2 * heartbeatPeriodMs) return 'Unknown';
  return heard.isRenewed !== true && now.wallMs > fact.heartbeatMs + 2 * heartbeatPeriodMs ? undefined : status;
}

function withChanges(heard: Standing, status: ConditionStatus | undefined, { threshold: { trigger, isLatched }, now }: Observing): Standing {
  if (trigger.kind !== 'flap' || status === undefined || status === 'Unknown' || status === heard.sure) return heard;
  if (heard.sure === undefined) return { ...heard, sure: status };
  // It was not the problem that went, it was its monitor that started anew.
  if (isLatched && status === 'False') return heard;
  return { ...heard, sure: status, changesMs: [...heard.changesMs, now.monotonicMs].slice(-trigger.changes) };
}

function verdictOf({ changesMs }: Standing, status: ConditionStatus | undefined, { threshold: { trigger }, now }: Observing): Verdict {
  if (trigger.kind === 'flap') {
    if (changesMs.filter((atMs) => now.monotonicMs < atMs + trigger.windowMs).length >= trigger.changes) return 'match';
    return status === undefined || status === 'Unknown' ? 'unsure' : 'clear';
  }
  if (status !== undefined && trigger.statuses.includes(status)) return 'match';
  return status === undefined || status === 'Unknown' ? 'unsure' : 'clear';
}

function withVerdict(known: Standing, verdict: Verdict, observing: Observing): Standing {
  switch (verdict) {
    case 'match':
      return matching(known, observing);
    case 'clear':
      return clearing(known, observing);
    case 'unsure':
      return { ...known, verdict, matchedSinceMs: undefined, clearSinceMs: undefined, stoodMs: undefined };
  }
}

function matching(known: Standing, { bootID, threshold, now }: Observing): Standing {
  const sinceMs = fromWhen(known.matchedSinceMs, now);
  const isFirst = known.matchedSinceMs === undefined && !known.isTripped;
  return {
    ...known,
    verdict: 'match',
    isTripped: known.isTripped || now.monotonicMs >= sinceMs + threshold.periodMs,
    matchedSinceMs: sinceMs,
    clearSinceMs: undefined,
    matchedBootID: bootID ?? known.matchedBootID,
    matchedSinceWallMs: isFirst ? now.wallMs : (known.matchedSinceWallMs ?? now.wallMs),
    stoodMs: undefined,
  };
}

function clearing(known: Standing, { node, bootID, threshold, now }: Observing): Standing {
  const sinceMs = fromWhen(known.clearSinceMs, now);
  const stoodMs = known.stoodMs ?? now.wallMs - (known.matchedSinceWallMs ?? now.wallMs);
  const isAnotherBoot = known.matchedBootID !== undefined && bootID !== undefined && known.matchedBootID !== bootID;
  const isOver =
    node.activelyClear.has(threshold.conditionType) ||
    (threshold.isLatched && isAnotherBoot) ||
    now.monotonicMs >= sinceMs + clearAfterMs(threshold, stoodMs);
  const clear = { ...known, verdict: 'clear' as const, clearSinceMs: sinceMs };
  // A monitor that starts anew posts that all is well: what it saw before is not forgotten for that.
  if (!isOver) return { ...clear, matchedSinceMs: threshold.isLatched ? known.matchedSinceMs : undefined, stoodMs };
  return { ...clear, isTripped: false, matchedSinceMs: undefined, matchedBootID: undefined, matchedSinceWallMs: undefined };
}

function clearAfterMs({ isLatched, clearPeriodMs }: Threshold, stoodMs: number): number {
  return isLatched ? Math.max(clearPeriodMs, Math.min(stoodMs, LATCHED_CLEAR_MAX_MS)) : clearPeriodMs;
}

function fromWhen(sinceMs: number | undefined, { monotonicMs, freshSinceMs = 0 }: RemedyClock): number {
  return Math.min(monotonicMs, Math.max(sinceMs ?? monotonicMs, freshSinceMs));
}

/**
 * - `absent`: it does not stand. - `pending`: it matches, not yet for its period. - `standing`: it matched for its whole period, in this boot and before our
 * own eyes. - `clearing`: it reads clear, not yet for long enough. - `unsure`: nobody can tell.
 */
export interface ThresholdView {
  readonly phase: 'absent' | 'pending' | 'standing' | 'clearing' | 'unsure';
  /** When time alone changes that, monotonic. */
  readonly dueMs?: number;
  /** It would match, were its heartbeat believed: from then on that is told, for it was not renewed for a whole period before our eyes. */
  readonly doubtedFromMs?: number;
}

export function viewOf(observed: ObservedConditions, threshold: Threshold, nowMs: number): ThresholdView {
  const standing = Object.hasOwn(observed.standings, threshold.id) ? (observed.standings[threshold.id] ?? NEVER) : NEVER;
  const { isDoubted: isToTell, heartbeatSeenMs } = standing;
  const { heartbeatPeriodMs } = threshold;
  const isTold = isToTell === true && heartbeatSeenMs !== undefined && heartbeatPeriodMs !== undefined;
  return { ...phaseOf(standing, threshold, nowMs), ...(isTold && { doubtedFromMs: heartbeatSeenMs + heartbeatPeriodMs }) };
}

function phaseOf(standing: Standing, threshold: Threshold, nowMs: number): ThresholdView {
  const { verdict, isTripped, matchedSinceMs = nowMs, clearSinceMs = nowMs, stoodMs = 0 } = standing;
  if (verdict === 'match') {
    const dueMs = matchedSinceMs + threshold.periodMs;
    return nowMs >= dueMs ? { phase: 'standing' } : { phase: 'pending', dueMs };
  }
  if (!isTripped) return { phase: 'absent' };
  return verdict === 'unsure' ? { phase: 'unsure' } : { phase: 'clearing', dueMs: clearSinceMs + clearAfterMs(threshold, stoodMs) };
}

export function persistedConditions({ bootID, standings }: ObservedConditions): PersistedConditions {
  const tripped = Object.entries(standings).filter(([, { isTripped }]) => isTripped);
  return {
    ...(bootID !== undefined && { bootID }),
    tripped: tripped.map(([threshold, { matchedBootID, matchedSinceWallMs = 0 }]) => ({
      threshold,
      ...(matchedBootID !== undefined && { bootID: matchedBootID }),
      sinceWallMs: matchedSinceWallMs,
    })),
  };
}

/** A new leader knows that it tripped, and must see for itself that it stands or is over. */
export function restoredConditions({ bootID, tripped }: PersistedConditions): ObservedConditions {
  const standings = tripped.map((one): [string, Standing] => [
    one.threshold,
    { ...NEVER, isTripped: true, matchedSinceWallMs: one.sinceWallMs, ...(one.bootID !== undefined && { matchedBootID: one.bootID }) },
  ]);
  return { ...(bootID !== undefined && { bootID }), standings: Object.fromEntries(standings) };
}
