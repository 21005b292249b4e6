import type { FenceState, JournalEntry, NodeFenceSpec, NodeFenceStatus } from './node-fence.ts';
import type { Plan } from './plan.ts';
import type { Operation } from './program.ts';
import type { FenceFacts, NodeFacts, Snapshot } from './snapshot.ts';

/** What a decision tells the shell to do, in this order: write, then dispatch, then look again at `requeueAtMs`. */
export interface Decision {
  /** The row of the automaton that applied. */
  row: string;
  create?: { spec: NodeFenceSpec };
  /** To be written by PUT with uid and resourceVersion; absent when nothing changes. */
  status?: NodeFenceStatus;
  /** To be started only after `status` was acknowledged (P4). */
  dispatch?: Dispatch;
  removeFinalizer?: true;
  deleteFence?: true;
  /** This process may not go on leading: what it found is of this epoch. */
  stepDown?: { epoch: number; message: string };
  /** Monotonic; absent: only a change matters. */
  requeueAtMs?: number;
  events: DecisionEvent[];
}

/** One run of an operation. `recover`: the device is read for a run that a predecessor left open. */
export interface Dispatch {
  kind: 'run' | 'recover';
  entry: JournalEntry;
  /** Absent: the frozen plan has none for this entry. */
  operation: Operation | undefined;
}

export interface DecisionEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** What a row's `act` returns; the automaton makes a decision of it. */
export interface Transition {
  status?: NodeFenceStatus;
  create?: { spec: NodeFenceSpec };
  dispatch?: Decision['dispatch'];
  removeFinalizer?: true;
  deleteFence?: true;
  stepDown?: NonNullable<Decision['stepDown']>;
  requeueAtMs?: number | undefined;
  events?: DecisionEvent[];
}

/** A snapshot with a fence whose status stands; finished runs are folded in. */
export interface Context {
  snapshot: Snapshot;
  node: NodeFacts | undefined;
  fence: FenceFacts;
  status: NodeFenceStatus;
  plan: Plan;
  healthy: boolean;
  triggered: boolean;
  /** The same by the node's own conditions, whatever was asked for. */
  failing: boolean;
  /** Last read of the standing evidence, when this process took it. */
  provenAtMs: number | undefined;
}

/** One line of the table of transitions. `when`, `does` and `to` are printed in docs/automaton.md. */
export interface Row {
  id: string;
  from: FenceState | 'any';
  when: string;
  does: string;
  to: string;
  applies(context: Context): boolean;
  act(context: Context): Transition;
}

export function event(type: DecisionEvent['type'], reason: string, message: string): DecisionEvent {
  return { type, reason, message };
}

/** The status in another state, step or level; whatever counted for the old position starts anew. */
export function moved(status: NodeFenceStatus, to: Partial<Pick<NodeFenceStatus, 'state' | 'step' | 'level'>>, message: string): NodeFenceStatus {
  const next: NodeFenceStatus = { ...status, ...to, message };
  if (next.step !== status.step || next.level !== status.level) {
    next.retries = 0;
    next.jobs = [];
  }
  if (next.step !== status.step && to.level === undefined) next.level = 1;
  delete next.hold;
  return next;
}

/** The earliest of those times that are still to come; `undefined` when none is. */
export function earliestAfter(nowMs: number, ...times: (number | undefined)[]): number | undefined {
  return earliest(...times.filter((time) => time !== undefined && time > nowMs));
}

/** The earliest of several times; `undefined` when there is none. */
export function earliest(...times: (number | undefined)[]): number | undefined {
  return times.reduce((first, time) => (time === undefined || (first !== undefined && first <= time) ? first : time), undefined);
}
