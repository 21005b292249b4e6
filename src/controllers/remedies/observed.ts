import type { ObservedNode } from '../../domain/remedy/conditions.ts';
import type { Node } from '../../ports/objects.ts';

/** What the Node says of itself. `isSilent`: its kubelet is not heard. */
export function observedNode({ status }: Node, isSilent: boolean): ObservedNode {
  return {
    bootID: status.nodeInfo?.bootID,
    isSilent,
    conditions: (status.conditions ?? []).map(({ type, status: value, lastHeartbeatTime }) => ({
      type,
      status: value,
      heartbeatMs: timeOf(lastHeartbeatTime),
    })),
    activelyClear: new Set(),
  };
}

function timeOf(text: string | undefined): number | undefined {
  const atMs = Date.parse(text ?? '');
  return Number.isNaN(atMs) ? undefined : atMs;
}
