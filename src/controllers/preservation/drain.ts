import { reportsDrained } from './condition.ts';
import type { DrainOutcome } from './condition.ts';
import { DRAIN_RETRY_MS, DRAIN_TIMEOUT_MS, FORCE_DRAIN_LABEL } from './names.ts';
import type { MachineFacts, NodeFacts } from './snapshot.ts';

export interface DrainOptions {
  /** Delete with grace 0 and do not wait. Only where evidence stands that the node can not write. */
  isForced: boolean;
  timeoutMs: number;
  evictionRetriesMax: number;
}

export interface DrainQuestion {
  ready: 'True' | 'False' | 'Unknown' | undefined;
  readySinceMs: number | undefined;
  readOnlySinceMs: number | undefined;
  isForceLabelled: boolean;
  /** When the phase last changed. */
  sinceMs: number | undefined;
  timeoutMs: number;
  evictionRetriesMax: number;
  nowMs: number;
}

const DEAD_AFTER_MS = 5 * 60_000;
const EVICTION_RETRY_MS = 20_000;
const FORCED: Omit<DrainOptions, 'isForced'> = { timeoutMs: 60_000, evictionRetriesMax: 1 };
const EVICTION_RETRIES_MAX = 360;

function isOlder(sinceMs: number | undefined, ageMs: number, nowMs: number): boolean {
  return sinceMs !== undefined && nowMs > sinceMs + ageMs;
}

/** MCM's drain of a preserved node: forced when the node is dead for 5 minutes, the time is over, or the label says so. */
export function drainOptions(question: DrainQuestion): DrainOptions {
  const { nowMs, timeoutMs } = question;
  const isDead = question.ready !== undefined && question.ready !== 'True' && isOlder(question.readySinceMs, DEAD_AFTER_MS, nowMs);
  const isReadOnly = isOlder(question.readOnlySinceMs, DEAD_AFTER_MS, nowMs);
  if (question.isForceLabelled || isDead || isReadOnly || isOlder(question.sinceMs, timeoutMs, nowMs)) return { isForced: true, ...FORCED };
  const evictionRetriesMax = Math.min(question.evictionRetriesMax, Math.floor(timeoutMs / EVICTION_RETRY_MS));
  return { isForced: false, timeoutMs, evictionRetriesMax };
}

/** A node that reports Ready is not off, whatever was proven before. */
export function isProvenOff(node: NodeFacts): boolean {
  return node.fence?.isOff === true && node.ready !== 'True';
}

/** The options for this node: a forced drain of a machine that may still write makes two writers, so it waits for the evidence of a fence. */
export function optionsFor(node: NodeFacts, machine: MachineFacts | undefined, nowMs: number): DrainOptions & { awaitsProof: boolean } {
  const asked = drainOptions({
    ready: node.ready,
    readySinceMs: node.readySinceMs,
    readOnlySinceMs: node.readOnlySinceMs,
    isForceLabelled: machine?.labels[FORCE_DRAIN_LABEL] === 'True',
    sinceMs: machine?.phaseSinceMs,
    timeoutMs: DRAIN_TIMEOUT_MS,
    evictionRetriesMax: EVICTION_RETRIES_MAX,
    nowMs,
  });
  const isProven = node.fence?.isIsolated === true || isProvenOff(node);
  if (!asked.isForced || isProven) return { ...asked, awaitsProof: false };
  const evictionRetriesMax = Math.min(EVICTION_RETRIES_MAX, Math.floor(DRAIN_TIMEOUT_MS / EVICTION_RETRY_MS));
  return { isForced: false, timeoutMs: DRAIN_TIMEOUT_MS, evictionRetriesMax, awaitsProof: true };
}

/** The condition tells of a drain, and was last written before this failure: MCM leaves it standing over a recovery. */
export function isStale({ preserved, preservedMs }: NodeFacts, phaseSinceMs: number | undefined): boolean {
  return reportsDrained(preserved) && preservedMs !== undefined && phaseSinceMs !== undefined && preservedMs < phaseSinceMs;
}

/** How far the drain of this failure is: done once for each, and the condition remembers it. */
export function drainOutcome(node: NodeFacts, phaseSinceMs: number | undefined): DrainOutcome {
  if (reportsDrained(node.preserved) && !isStale(node, phaseSinceMs)) return 'drained';
  const { drain } = node;
  if (drain === undefined || drain.state === 'running') return 'pending';
  // One for Failed counts for the Terminating that follows it.
  if (drain.sinceMs !== phaseSinceMs && drain.atMs < (phaseSinceMs ?? Infinity)) return 'pending';
  return drain.state === 'succeeded' ? 'drained' : 'failed';
}

/** When the drain is to be begun or begun again; undefined: it runs, or is over. One that is not forced makes way for one that may be. */
export function drainDueMs(node: NodeFacts, phaseSinceMs: number | undefined, isForced: boolean, nowMs: number): number | undefined {
  const outcome = drainOutcome(node, phaseSinceMs);
  if (outcome === 'drained') return undefined;
  if (node.drain?.state === 'running') return isForced && !node.drain.isForced ? nowMs : undefined;
  // One that failed in the future was told by a clock that has been set back since.
  const failedAtMs = outcome === 'failed' && node.drain !== undefined && node.drain.atMs <= nowMs ? node.drain.atMs : undefined;
  return failedAtMs === undefined ? nowMs : failedAtMs + DRAIN_RETRY_MS;
}
