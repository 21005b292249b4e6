import type { KubeObject } from '../../ports/objects.ts';
import type { NodeFacts } from './snapshot.ts';

/** Whose object an action changes. The shell refuses to change an object of another uid. */
export interface ObjectRef {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
}

/** For the recorder, about the target of the action, after it has succeeded. Reasons are UpperCamel. */
export interface ActionEvent {
  type: 'Normal' | 'Warning';
  reason: string;
  message: string;
}

/** RFC 7386. Its metadata holds uid and resourceVersion of the state that was decided on: 409 when either has moved. */
export interface Patch {
  metadata: { uid: string; resourceVersion?: string; [member: string]: unknown };
  status?: Record<string, unknown>;
}

/** At most one of one decision changes an object that is there. */
export type Action = (
  | { kind: 'delete-request'; target: ObjectRef }
  /** Status subresource of a Machine: the lists of conditions that change, whole. */
  | { kind: 'machine-status'; target: ObjectRef; patch: Patch }
  /** Annotations of a Machine (OpenShift). */
  | { kind: 'machine-metadata'; target: ObjectRef; patch: Patch }
  /** OpenShift: the Machine goes, its owner makes another. */
  | { kind: 'delete-machine'; target: ObjectRef; resourceVersion: string | undefined }
  /** Status subresource of a MachineHealthCheck. */
  | { kind: 'check-status'; target: ObjectRef; patch: Patch }
  /** Label and owner of a MachineHealthCheck; its status is written when this is there. */
  | { kind: 'check-metadata'; target: ObjectRef; patch: Patch }
  /** `target` is the Machine whose request it is, and `resourceVersion` that of the state that was decided on; it exists already when the API server says so. */
  | { kind: 'create-request'; target: ObjectRef; object: KubeObject & { spec?: unknown }; resourceVersion: string | undefined }
) & { events?: readonly ActionEvent[] };

/** Says something without a write; said once by the shell for as long as it stands. */
export interface Notice {
  target: ObjectRef;
  event: ActionEvent;
}

/** A machine that is not remediated although its check failed, and why. */
export interface Waiting {
  machine: string;
  why: string;
  /** Who has its node. */
  holder?: string;
  /** Nobody would make another in its place. */
  isOrphan?: true;
}

/** One row of status and console. */
export interface HealthCheckView {
  namespace: string;
  name: string;
  expectedMachines: number;
  currentHealthy: number;
  /** Machines whose check failed. */
  failed: number;
  remediationsAllowed: number;
  /** Machines in remediation now. */
  inFlight: number;
  isPaused: boolean;
  /** Why nothing is remediated, as RemediationAllowed says it. */
  blocked?: string;
  waiting: readonly Waiting[];
  /** Why it is not what its owner may think, in words. */
  problem?: string;
}

/** The Node of a Machine, as it was decided on; undefined: there was none of its name. */
export type DecidedNodes = ReadonlyMap<string, NodeFacts | undefined>;

export interface Decision {
  /** Those about one machine are in their order, and what follows a failed one waits for the next decision; the other machines' are done all the same. */
  actions: readonly Action[];
  /** By the uid of the Machine, of those that have failed. */
  nodes: DecidedNodes;
  views: readonly HealthCheckView[];
  notices: readonly Notice[];
  /** Standing warnings, one sentence each, in a stable order; said once by the shell. */
  problems: readonly string[];
  /** When to decide again although nothing has changed. */
  nextDueMs?: number;
}
