import { activelyClear } from '../../domain/node-daemon/found-well.ts';
import type { AttestedWell } from '../../domain/node-daemon/found-well.ts';
import type { ObservedNode } from '../../domain/remedy/conditions.ts';
import type { Threshold } from '../../domain/remedy/configuration.ts';
import type { Node } from '../../ports/objects.ts';

export interface Heard {
  /** Its kubelet is not heard. */
  isSilent: boolean;
  /** By its daemon. */
  foundWell: AttestedWell | undefined;
}

/** What the Node says of itself, of the conditions that are answered, and what its daemon found of them. */
export function observedNode({ status }: Node, { isSilent, foundWell }: Heard, thresholds: readonly Threshold[]): ObservedNode {
  const bootID = status.nodeInfo?.bootID;
  const answered = (status.conditions ?? []).filter(({ type }) => thresholds.some(({ conditionType }) => conditionType === type));
  const conditions = answered.map(({ type, status: value, lastHeartbeatTime }) => ({ type, status: value, heartbeatMs: timeOf(lastHeartbeatTime) }));
  return { bootID, isSilent, conditions, activelyClear: activelyClear(foundWell, { bootID, conditions: answered }) };
}

function timeOf(text: string | undefined): number | undefined {
  const atMs = Date.parse(text ?? '');
  return Number.isNaN(atMs) ? undefined : atMs;
}
