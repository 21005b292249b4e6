import type { ActionEvent, Annotate, Marks, ObjectRef } from '../shared/remediation/actions.ts';
import type { ConditionFact, MachineReport } from '../shared/remediation/owner-machine.ts';
import type { Phase } from './names.ts';
import type { Settings } from './spec.ts';

/** status of the request. */
export interface RequestStatus {
  phase: Phase;
  retryCount: number;
  lastRemediatedMs: number | undefined;
  nodeFence: string | undefined;
  conditions: readonly ConditionFact[];
}

/** One object each, idempotent. */
export type Action = (
  | Annotate
  | MachineReport
  | { kind: 'finalizer'; target: ObjectRef; finalizer: string; isPresent: boolean; annotations?: Marks }
  /** Refused when phase, count or time are no longer as they were. */
  | { kind: 'status'; target: ObjectRef; was: Pick<RequestStatus, 'phase' | 'retryCount' | 'lastRemediatedMs'>; to: RequestStatus }
  /** Takes the node in the name of `target`, the request, as src/controllers/shared/claims does. Taken by somebody else: the next snapshot says so. */
  | {
      kind: 'request-fence';
      target: ObjectRef;
      node: string;
      ending: 'off' | undefined;
      nodeRemoval: Settings['nodeRemoval'];
      methodRef: string | undefined;
    }
  /** Gives the node back: the fence controller takes back what it did before it lets go. */
  | { kind: 'withdraw-fence'; target: ObjectRef; fence: string }
  /** On the proof of the NodeFence named here; Node and Lease are read consistently right before it (P2). */
  | { kind: 'delete-node'; target: ObjectRef; fence: { name: string; uid: string } }
) & { event?: ActionEvent };

export interface Decision {
  /** In the order in which they must be done. */
  actions: readonly Action[];
  /** Standing warnings, one sentence each; said once by the shell. */
  problems: readonly string[];
  /** When to decide again although nothing has changed; wall clock. */
  nextDueMs?: number;
}

/** What one state wants. */
export interface Step {
  actions?: readonly Action[];
  problem?: string;
  dueInMs?: number;
}
