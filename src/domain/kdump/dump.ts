import type { Plan } from '../plan.ts';
import type { DumpState } from './record.ts';

/** One message may be forged by whoever can write one packet; two are the least that a dumping kernel sends. */
export const MESSAGES_MIN = 2;
/** A kubelet renews its lease every 10 s: one that has not for longer is not alive, as far as this can tell. */
export const LEASE_STALE_MS = 12_000;

/** What was heard of the crash kernel of one node, by whichever replica, since its kubelet was last heard. Monotonic times of this process. */
export interface HeardDump {
  source: string;
  /** Of the first message; never later for more messages. */
  firstMs: number;
  lastMs: number;
  count: number;
  /** RFC 3339, for records only. */
  first: string;
}

/** What says whether the node itself lives, as the snapshot has it. */
export interface Liveness {
  ready: 'True' | 'False' | 'Unknown' | 'missing';
  /** Fast detection takes it for failed. */
  silence?: object | undefined;
  /** Monotonic time at which its kubelet was last heard. */
  lifeAtMs: number;
  /** It was not: `lifeAtMs` is when this process saw the node first, and its kubelet may have been silent for long. */
  isOnlySeen?: boolean;
}

/** What is known of the dump of a node when its fence is decided. */
export interface DumpFacts {
  heard?: HeardDump;
  /** Its daemon attested a crash kernel that notifies, before the node was lost. */
  isArmed: boolean;
}

/** `kdump_*` of a node, in its plan. */
export type DumpTimes = Pick<NonNullable<Plan['kdump']>, 'finishedTimeoutMs' | 'maxDurationMs'>;

/** What the messages alone say. */
export function stateOf(
  { count, lastMs }: Pick<HeardDump, 'count' | 'lastMs'>,
  { finishedTimeoutMs }: Pick<DumpTimes, 'finishedTimeoutMs'>,
  nowMs: number,
): DumpState {
  if (nowMs >= lastMs + finishedTimeoutMs) return 'FINISHED';
  return count < MESSAGES_MIN ? 'STARTED' : 'DUMPING';
}

/** The dump is over for whoever waits for it: no message came for long, or it took as long as it may, counted from the first message. */
export function dumpEndsAtMs({ firstMs, lastMs }: HeardDump, { finishedTimeoutMs, maxDurationMs }: DumpTimes): number {
  return Math.min(lastMs + finishedTimeoutMs, firstMs + maxDurationMs);
}

/**
 * May these messages be of the node's own crash kernel? Anybody who can write its address can send them: so they count only where Kubernetes takes the node for
 * failed, or its daemon is silent, where no kubelet has been heard since the last of them, and where there are two.
 */
export function isCredible(heard: HeardDump, node: Liveness, nowMs: number): boolean {
  return countsAsFailed(node) && isSilent(heard, node, nowMs);
}

/**
 * As far as anybody waits for it, which proves nothing: also while Kubernetes has not noticed yet, where somebody asked for the fence. A process that has just begun
 * cuts no dump while it cannot know how long the kubelet has been silent.
 */
export function mayDump(heard: HeardDump, node: Liveness, nowMs: number): boolean {
  return node.isOnlySeen === true ? countsAsFailed(node) && heard.count >= MESSAGES_MIN : isSilent(heard, node, nowMs);
}

/** Kubernetes takes it for failed, or its daemon is silent. */
export function countsAsFailed({ ready, silence }: Pick<Liveness, 'ready' | 'silence'>): boolean {
  return ready !== 'True' || silence !== undefined;
}

/** Nobody has heard its kubelet since the last of two messages, and for longer than between two renewals. */
function isSilent({ count, lastMs }: HeardDump, { lifeAtMs }: Liveness, nowMs: number): boolean {
  return count >= MESSAGES_MIN && lastMs > lifeAtMs && nowMs >= lifeAtMs + LEASE_STALE_MS;
}
