import type { RestoreNode } from '../shared/baremetal-host/node-backup.ts';
import type { OffProof } from '../shared/baremetal-host/off-proof.ts';
import type { TaintNode } from '../shared/baremetal-host/out-of-service.ts';
import type { ActionEvent, Annotate, ObjectRef } from '../shared/remediation/actions.ts';
import type { MachineReport } from '../shared/remediation/owner-machine.ts';
import type { Phase } from './names.ts';

/** status of the remediation; phases are written by phaseText. */
export interface RemediationStatus {
  phase: Phase;
  retryCount: number;
  lastRemediatedMs: number | undefined;
}

/** One object each, idempotent. */
export type Action = (
  | Annotate
  | RestoreNode
  | MachineReport
  | { kind: 'finalizer'; target: ObjectRef; finalizer: string; isPresent: boolean }
  /** Refused when it is no longer as it was. */
  | { kind: 'status'; target: ObjectRef; was: RemediationStatus; to: RemediationStatus }
  | TaintNode
  /** The release. Node and Lease are read consistently right before it (P2). */
  | { kind: 'delete-node'; target: ObjectRef; proof: OffProof }
) & { event?: ActionEvent };

export interface Decision {
  /** In the order in which they must be done. */
  actions: readonly Action[];
  /** Standing warnings, one sentence each; said once by the shell. */
  problems: readonly string[];
  /** Nobody else may touch the node now: the shell takes it before the first action, and keeps it while this is true. */
  holdsNode: boolean;
  /** When to decide again although nothing has changed; wall clock. */
  nextDueMs?: number;
}

/** What one phase wants. */
export interface Step {
  actions?: readonly Action[];
  problem?: string;
  dueInMs?: number;
}
