import { countsAsFailed, dumpEndsAtMs, mayDump } from '../../domain/kdump/dump.ts';
import type { DumpTimes, HeardDump, Liveness } from '../../domain/kdump/dump.ts';
import { bounded } from '../../domain/node-fence.ts';
import { KERNEL_DUMP } from '../../ports/resources.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import type { ReportStatus } from '../shared/node-report.ts';

export type DumpReason = 'Dumping' | 'Finished' | 'LimitOver' | 'Alive';

/** What the report of a node is to say from now on, and the Event that goes with it, once each. */
export interface Told {
  reason: DumpReason;
  event: 'KdumpStarted' | 'KdumpFinished';
  message: string;
  /** Of the first message of a dump that begins, RFC 3339: since then its condition stands. */
  since?: string;
}

export interface Dumped {
  heard: HeardDump | undefined;
  node: Liveness;
  times: DumpTimes;
  nowMs: number;
  /** Is anything held for it? */
  isHeld: boolean;
}

/** Undefined: the report says it already, or there is nothing to say. */
export function tell({ heard, node, times, nowMs, isHeld }: Dumped, report: NodeFenceReport | undefined): Told | undefined {
  const standing = report?.status?.conditions?.find(({ type }) => type === KERNEL_DUMP);
  const isTold = standing?.status === 'True';
  const isDumping = heard !== undefined && countsAsFailed(node) && mayDump(heard, node, nowMs) && nowMs < dumpEndsAtMs(heard, times);
  if (isDumping && !isTold) {
    // The same dump is told once: a sender that pauses and goes on begins no other. It began before its end was told.
    if (standing !== undefined && Date.parse(heard.first) <= Date.parse(standing.lastTransitionTime)) return undefined;
    const effect = isHeld ? 'nothing is switched off meanwhile' : 'nothing waits for it: kdump_enabled is off';
    const message = `${heard.count} kdump messages came from ${heard.source} since ${heard.first}: its kernel dumps; ${effect}.`;
    return { reason: 'Dumping', event: 'KdumpStarted', message, since: new Date(heard.first).toISOString() };
  }
  if (isDumping || !isTold) return undefined;
  const [reason, why] = ending(heard, node, times, nowMs);
  const message = `The dump that began at ${standing.lastTransitionTime} is over for the fence: ${why}.`;
  return { reason, event: 'KdumpFinished', message };
}

function ending(heard: Dumped['heard'], node: Dumped['node'], { finishedTimeoutMs, maxDurationMs }: DumpTimes, nowMs: number): [DumpReason, string] {
  if (heard === undefined && node.isOnlySeen === true && node.ready !== 'True') return ['Finished', 'nobody who listens now has heard of it'];
  if (heard === undefined || (heard.lastMs <= node.lifeAtMs && node.isOnlySeen !== true) || node.ready === 'True')
    return ['Alive', 'its kubelet is heard again'];
  if (nowMs >= heard.firstMs + maxDurationMs && nowMs < heard.lastMs + finishedTimeoutMs)
    return ['LimitOver', `messages still come, and kdump_max_duration ${maxDurationMs / 1000} s after the first is over`];
  return ['Finished', `no message came for ${finishedTimeoutMs / 1000} s, after ${heard.count}`];
}

/** The report with this condition in it. `now`: RFC 3339. */
export function withDump(status: ReportStatus, { reason, message, since }: Pick<Told, 'reason' | 'message' | 'since'>, now: string): ReportStatus {
  const condition = {
    type: KERNEL_DUMP,
    status: reason === 'Dumping' ? ('True' as const) : ('False' as const),
    reason,
    message: bounded(message),
    lastTransitionTime: since ?? now,
  };
  return { ...status, conditions: [...(status.conditions ?? []).filter(({ type }) => type !== KERNEL_DUMP), condition] };
}
