import { decide } from '../../domain/automaton.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import type { Snapshot } from '../../domain/snapshot.ts';
import type { Decision } from '../../domain/transition.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { FINALIZER } from '../shared/ownership.ts';

/** The longest chain of the automaton has fewer; more would be a circle. */
const ROWS_MAX = 4;

export interface Onward {
  snapshot: Snapshot;
  /** The last row's, with the events of all. */
  decision: Decision;
  /** The NodeFence that it was decided on: as it is stored, or as the rows before left it. */
  fence: NodeFence | undefined;
  /** Statuses between the stored one and the decided one, which are never written. */
  passed: readonly NodeFenceStatus[];
}

/**
 * Rows that follow each other in one moment are decided in one turn and written at once: a failed node waits for one write where it waited for two.
 * What must stand before a device is called still does, for only the last row may call one.
 */
export function decideOnward(take: (fence: NodeFence | undefined) => Snapshot, stored: NodeFence | undefined): Onward {
  let snapshot = take(stored);
  let decision = decide(snapshot);
  let fence = stored;
  const passed: NodeFenceStatus[] = [];
  while (passed.length < ROWS_MAX && fence !== undefined && decision.status !== undefined && goesOnAtOnce(fence, decision, snapshot.nowMs)) {
    const moved = { ...fence, status: decision.status };
    const next = take(moved);
    const then = decide(next);
    if (!isWriteOnly(then) && then.dispatch?.kind !== 'run') break;
    passed.push(decision.status);
    decision = { ...then, status: then.status ?? decision.status, events: [...decision.events, ...then.events] };
    snapshot = next;
    fence = moved;
  }
  return { snapshot, decision, fence, passed };
}

/** One that is still to be claimed, or that a person deletes, is looked at anew after each write. */
function goesOnAtOnce({ metadata }: NodeFence, decision: Decision, nowMs: number): boolean {
  const isOurs = metadata.finalizers?.includes(FINALIZER) === true && metadata.deletionTimestamp === undefined;
  return isOurs && isWriteOnly(decision) && decision.requeueAtMs !== undefined && decision.requeueAtMs <= nowMs;
}

function isWriteOnly({ create, dispatch, removeFinalizer, deleteFence, stepDown }: Decision): boolean {
  return [create, dispatch, removeFinalizer, deleteFence, stepDown].every((effect) => effect === undefined);
}
