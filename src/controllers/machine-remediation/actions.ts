import type { OffProof } from '../shared/baremetal-host/off-proof.ts';
import type { RestoreNode } from '../shared/baremetal-host/node-backup.ts';
import type { TaintNode } from '../shared/baremetal-host/out-of-service.ts';
import type { ActionEvent, Annotate, ObjectRef } from '../shared/remediation/actions.ts';

/** One object each, idempotent. */
export type Action = (
  | Annotate
  | RestoreNode
  | TaintNode
  /** The release. Node and Lease are read consistently right before it; a sign of life there, or another uid: it is not done (P2). */
  | { kind: 'delete-node'; target: ObjectRef; proof: OffProof }
  | { kind: 'delete-machine'; target: ObjectRef }
) & { event?: ActionEvent };

export type Phase = 'idle' | 'powering-off' | 'deleting-node' | 'powering-on' | 'waiting-for-node' | 'waiting' | 'gave-up';

export interface Decision {
  /** In the order in which they must be done. */
  actions: readonly Action[];
  phase: Phase;
  /** Standing warnings, one sentence each; said once by the shell. */
  problems: readonly string[];
  /** Nobody else may touch the node now: the shell takes it before the first action, and keeps it while this is true. */
  holdsNode: boolean;
  /** When to decide again although nothing has changed; wall clock. */
  nextDueMs?: number;
}

/** What one rule wants. */
export interface Step {
  phase: Phase;
  actions?: readonly Action[];
  problem?: string;
  dueInMs?: number;
}
