import type { NodeGuard, PreservationView } from '../../ports/preservation.ts';
import type { DrainOptions } from './drain.ts';
import type { MachinePhase, PreservedCondition } from './snapshot.ts';

/** Whose object an action changes. The shell refuses to change an object of another uid. */
export interface ObjectRef {
  kind: 'Node' | 'Machine' | 'MachineSet' | 'MachineDeployment';
  name: string;
  /** Nodes have none. */
  namespace?: string;
  uid: string;
}

/** One annotation: `was` is compared before `to` is written (JSON patch `test`); undefined: absent, or remove. */
export interface Change {
  key: string;
  was: string | undefined;
  to: string | undefined;
}

/** For the recorder, after the write has succeeded. Reasons are UpperCamel. */
export interface ActionEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

export interface MachineStatus {
  phase: MachinePhase;
  /** status.currentStatus.preserveExpiryTime; undefined: clear. */
  expiryMs: number | undefined;
}

/** All changes of one action are one write. */
export type Action = (
  | { kind: 'annotate'; target: ObjectRef; changes: readonly Change[] }
  /**
   * status.currentStatus: phase and expiry; lastUpdateTime moves when the phase does. Refused when it is no longer as it was. `isSurplus`: its MachineSet wants fewer
   * replicas, which is looked at once more, consistently: nobody takes a Terminating back.
   */
  | { kind: 'machine-status'; target: ObjectRef; was: MachineStatus; to: MachineStatus; isSurplus?: true }
  /**
   * Node status condition `Preserved` (strategic merge by type); lastTransitionTime moves when the status does. `sinceMs`: of the failure that it is about; it is
   * written as no older than that, whosever clock is behind.
   */
  | { kind: 'condition'; target: ObjectRef; was: PreservedCondition | undefined; to: PreservedCondition; sinceMs?: number | undefined }
  /** Taint `node.machine.sapcloud.io/preserved:NoSchedule`. */
  | { kind: 'taint'; target: ObjectRef; isPresent: boolean }
  /** spec.unschedulable together with our mark; only where `isCordoned` differs from what is there, never over a foreign cordon. */
  | { kind: 'cordon'; target: ObjectRef; isCordoned: boolean }
  /** Evicts under PDBs all pods but those it keeps, until done; at most one at a time for each node uid. Reported as NodeFacts.drain. */
  | { kind: 'drain'; target: ObjectRef; options: DrainOptions; keeps: readonly ('DaemonSet' | 'mirror')[]; sinceMs: number | undefined }
  /** A NodeFence `spec.requestedBy` the machine: verified power-off by the node's own plan, no power-on. */
  | { kind: 'power-off'; target: ObjectRef; requestedBy: ObjectRef }
  /** `provenOff`: its Node, whose proof is read once more right before; absent: it has no Node. */
  | { kind: 'delete-machine'; target: ObjectRef; provenOff?: ObjectRef }
  /** Status of a MachineSet (both counts) or a MachineDeployment (`preservedFailed`). */
  | { kind: 'counts'; target: ObjectRef; automatic?: number; preservedFailed: number }
) & { event?: ActionEvent };

export interface DeploymentView {
  name: string;
  namespace: string;
  preservedFailed: number;
  /** Preserved failed machines lower what must be available. */
  minRequired: number;
  isAvailable: boolean;
  reason: 'MinimumReplicasAvailable' | 'MinimumReplicasUnavailable';
}

export interface ProblemOf {
  target: ObjectRef;
  message: string;
}

export interface Decision {
  /** In the order in which they must be done for one object; those of different objects do not depend on each other. */
  actions: readonly Action[];
  guards: readonly NodeGuard[];
  views: readonly PreservationView[];
  deployments: readonly DeploymentView[];
  /** uids of the Nodes whose pods are to be moved: a drain of any other has lost its reason. */
  drains: readonly string[];
  /** Standing warnings, one sentence each, in a stable order; said once by the shell. */
  problems: readonly string[];
  /** Those of them that wait for a person, by what they are about; each is an Event once for as long as it stands. */
  warnings: readonly ProblemOf[];
  /** When to decide again although nothing has changed. */
  nextDueMs?: number;
}
