import type { ThresholdView } from '../../domain/remedy/conditions.ts';
import type { Threshold } from '../../domain/remedy/configuration.ts';
import type { Node } from '../../ports/objects.ts';

/** In the signs of a node: it would match, were its heartbeat believed. */
export const DOUBTED = '?';

/** When time alone changes what is to be done or told of the node; monotonic. */
export function nextOf(views: readonly ThresholdView[], nowMs: number): number {
  const times = views.flatMap(({ dueMs = Infinity, doubtedFromMs = Infinity }) => [dueMs, doubtedFromMs > nowMs ? doubtedFromMs : Infinity]);
  return Math.min(...times, Infinity);
}

/** Conditions that would be answered, were they not too old by their heartbeat: nothing follows from them, and somebody has to know. */
export function doubtsOf(
  { metadata: { name }, status }: Node,
  thresholds: readonly Threshold[],
  views: readonly ThresholdView[],
  nowMs: number,
): string[] {
  return thresholds.flatMap(({ id, conditionType, heartbeatPeriodMs = 0 }, index) => {
    const { doubtedFromMs = Infinity } = views[index] ?? {};
    if (nowMs < doubtedFromMs) return [];
    const { status: said, lastHeartbeatTime } = status.conditions?.find(({ type }) => type === conditionType) ?? {};
    const mend = 'check that what posts it runs on the node; if it posts less often, set heartbeatPeriod to that';
    const seen = `its heartbeat of ${lastHeartbeatTime ?? 'no time'} was not renewed for ${heartbeatPeriodMs / 1_000} s`;
    return [`${name}: ${id}: ${conditionType} is ${said ?? 'gone'}, but nothing follows: it is too old by our clock, and ${seen}: ${mend}`];
  });
}
