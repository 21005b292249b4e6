import type { ObservedNode } from '../../domain/remedy/conditions.ts';
import type { Threshold } from '../../domain/remedy/configuration.ts';
import type { Node } from '../../ports/objects.ts';

const NOTHING: ReadonlySet<string> = new Set();

/** What the Node says of itself, of the conditions that are answered. `isSilent`: its kubelet is not heard. */
export function observedNode({ status }: Node, isSilent: boolean, thresholds: readonly Threshold[]): ObservedNode {
  const answered = (status.conditions ?? []).filter(({ type }) => thresholds.some(({ conditionType }) => conditionType === type));
  const conditions = answered.map(({ type, status: value, lastHeartbeatTime }) => ({ type, status: value, heartbeatMs: timeOf(lastHeartbeatTime) }));
  return { bootID: status.nodeInfo?.bootID, isSilent, conditions, activelyClear: NOTHING };
}

function timeOf(text: string | undefined): number | undefined {
  const atMs = Date.parse(text ?? '');
  return Number.isNaN(atMs) ? undefined : atMs;
}
