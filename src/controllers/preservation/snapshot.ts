import type { AutomaticSpelling } from './names.ts';

/** MCM's phases; `''` where nobody has written one yet. */
export type MachinePhase =
  | ''
  | 'Pending'
  | 'Available'
  | 'Running'
  | 'Terminating'
  | 'Unknown'
  | 'Failed'
  | 'CrashLoopBackOff'
  | 'InPlaceUpdating'
  | 'InPlaceUpdateSuccessful'
  | 'InPlaceUpdateFailed';

export type Marks = Readonly<Record<string, string>>;

/** A Machine of `machine.sapcloud.io/v1alpha1`. */
export interface MachineFacts {
  name: string;
  namespace: string;
  uid: string;
  annotations: Marks;
  labels: Marks;
  /** metadata.creationTimestamp. */
  createdMs: number;
  /** metadata.deletionTimestamp is set. */
  isDeleting: boolean;
  /** status.currentStatus.phase. */
  phase: MachinePhase;
  /** status.currentStatus.lastUpdateTime. */
  phaseSinceMs?: number;
  /** Since when this process has seen that phase, by our wall clock: no later than its first look. Only where time is to pass in it. */
  phaseSeenMs?: number;
  /** status.currentStatus.preserveExpiryTime. */
  expiryMs?: number;
  /** The label `node`; absent while there is no backing node. */
  nodeName?: string;
  /** Controlling MachineSet. */
  machineSet?: string;
  /** spec.machinePreserveTimeout; wins over the pool's. */
  preserveTimeoutMs?: number;
  /** Annotation `machinepriority.machine.sapcloud.io`; lower goes first, 3 when absent. */
  priority?: number;
  /** When somebody marked it for deletion. */
  markedForDeletionMs?: number;
}

export interface PreservedCondition {
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

/** What the shell knows of the drain that it runs for `drain` actions; absent: none since it started (a drain may be repeated at any time). */
export interface DrainFacts {
  state: 'running' | 'succeeded' | 'failed';
  /** When it came to this state. */
  atMs: number;
  /** Of the failure that it was begun for: since when that is written to stand, by whoever's clock. */
  sinceMs: number | undefined;
  isForced: boolean;
  message?: string;
}

/** The NodeFence of the node, as far as it concerns preservation. */
export interface FenceFacts {
  uid: string;
  /** Not final: the node belongs to the fence, and is left alone here. */
  isOpen: boolean;
  /** Open, and it has ended in error at least once: it may stay open until the node is healthy or a person acts. */
  hasFailed?: true;
  /** Evidence stands that the node can not write: isolated, or off. */
  isIsolated: boolean;
  /** Evidence of an off stands: not voided, and nothing was switched on since. */
  isOff: boolean;
  /** `spec.requestedBy.uid` of the last request. */
  requestedByUID?: string;
}

export interface NodeFacts {
  name: string;
  uid: string;
  annotations: Marks;
  labels: Marks;
  createdMs: number;
  isDeleting: boolean;
  /** spec.unschedulable. */
  isUnschedulable: boolean;
  /** Keys of spec.taints. */
  taints: readonly string[];
  /** The condition `Preserved`. */
  preserved?: PreservedCondition;
  /** When that was last written. */
  preservedMs?: number;
  /** Status of `Ready`; absent: nobody reported, no judgement. */
  ready?: 'True' | 'False' | 'Unknown';
  /** lastTransitionTime of `Ready`. */
  readySinceMs?: number;
  /** Since when this process has seen it so, by our wall clock: no later than its first look. Absent while it is Ready. */
  readySeenMs?: number;
  /** Types of KernelDeadlock, ReadonlyFilesystem, DiskPressure, NetworkUnavailable that are not False. */
  ailments: readonly string[];
  /** lastTransitionTime of ReadonlyFilesystem where it is True. */
  readOnlySinceMs?: number;
  drain?: DrainFacts;
  fence?: FenceFacts;
}

export interface MachineSetFacts {
  name: string;
  namespace: string;
  uid: string;
  /** spec.replicas. */
  replicas?: number;
  /** Controlling MachineDeployment. */
  deployment?: string;
  /** spec.autoPreserveFailedMachineMax, for sets without a deployment and a pool. */
  autoPreserveMax?: number;
  /** status.autoPreserveFailedMachineCount and .preservedFailedReplicas. */
  counts?: { automatic: number; preservedFailed: number };
}

export interface MachineDeploymentFacts {
  name: string;
  namespace: string;
  uid: string;
  labels: Marks;
  replicas?: number;
  /** spec.strategy.rollingUpdate.maxUnavailable, resolved to a number. */
  maxUnavailable?: number;
  availableReplicas?: number;
  /** spec.autoPreserveFailedMachineMax; used where ConfigMap `preservation-pools` does not know the pool. */
  autoPreserveMax?: number;
  /** Its hibernation annotation is set (a set scaled to 0 is seen from the set). */
  isHibernated: boolean;
  /** status.preservedFailedReplicas. */
  preservedFailed?: number;
}

/** One worker pool of ConfigMap `preservation-pools`. */
export interface PoolSettings {
  /** autoPreserveFailedMachineMax of the whole pool. */
  autoPreserveMax: number;
  /** machinePreserveTimeout. */
  preserveTimeoutMs: number;
  /** machineHealthTimeout: so long is a machine Unknown before it is Failed. Absent: as long as MCM gives it. */
  healthTimeoutMs?: number;
}

/**
 * All that `decide` reads about one pool, or of several. Every list is complete, or empty before its first sync. Machines may live in
 * another cluster than Nodes; they meet by `nodeName`.
 */
export interface Snapshot {
  /** Wall clock. */
  nowMs: number;
  /** Since when the Nodes are heard, by the wall clock: an outage of the API server before it is no silence of a machine. Absent: always. */
  freshSinceMs?: number;
  /** own: no MCM is there, and its part is ours. observe: a real MCM is there; its marks are read, and only a request of ours is ever written. */
  mode: 'own' | 'observe';
  /** The Machine CRD has status.currentStatus.preserveExpiryTime; false: pruned before MCM v0.62, Machines can not be preserved. */
  hasExpiryField: boolean;
  spelling: AutomaticSpelling;
  /** observe: write `when-failed` while a fence is open, so that MCM does not delete the VM under it. */
  requestsWhenFailed: boolean;
  machines: readonly MachineFacts[];
  nodes: readonly NodeFacts[];
  machineSets: readonly MachineSetFacts[];
  machineDeployments: readonly MachineDeploymentFacts[];
  /** By pool name. */
  pools: ReadonlyMap<string, PoolSettings>;
}
