import type { Clock } from '../../ports/clock.ts';
import type { Cluster, Lister, Resource } from '../../ports/cluster.ts';
import type { UntypedObject } from '../../ports/cluster-api.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { HealthCheckMetrics } from '../../ports/metrics.ts';
import type { Lease, Node } from '../../ports/objects.ts';
import type { Logger, Recorder } from '../../ports/recorder.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { ServedAs } from './read/objects.ts';
import type { IntOrPercent } from './threshold.ts';

/** A kind of the cluster and its watch. */
export interface WatchedKind {
  resource: Resource<UntypedObject>;
  lister: Lister<UntypedObject>;
}

/** `absent`: the API server does not serve it; `unknown`: it has not been found out yet. */
export type FoundKind = WatchedKind | 'absent' | 'unknown';

/** Templates and requests of whatever kind a check names: watched for as long as one does. */
export interface RemediationKinds {
  /** Exactly these are watched from now on, each as `kindKey` names it. */
  want(kinds: ReadonlySet<string>): void;
  of(kind: string): FoundKind;
  /** Called when `of` answers otherwise than before. */
  onChange(listener: () => void): () => void;
}

/** The Nodes of a workload cluster. */
export interface WorkloadNodes {
  lister: Lister<Node>;
  /** For a consistent read of one Node, and of the stops there. */
  cluster: Pick<Cluster, 'get' | 'list'>;
}

/** `no-kubeconfig`: there is no Secret for it; `unreachable`: it can not be read now, or not yet. */
export type FoundNodes = WorkloadNodes | 'no-kubeconfig' | 'unreachable';

/** Clusters whose Nodes are elsewhere, by `<cluster>-kubeconfig`; a Cluster is named `namespace/name`. */
export interface WorkloadClusters {
  /** Exactly these are reached from now on. */
  want(clusters: ReadonlySet<string>): void;
  of(cluster: string): FoundNodes;
  /** Why the Nodes of this one can not be read, and what to do; undefined: it is not known, or they can. */
  whyNot(cluster: string): string | undefined;
  /** Why some can not be reached, one sentence each; stable while nothing changes. */
  problems(): readonly string[];
  onChange(listener: () => void): () => void;
}

export interface HealthCheckOptions extends ServedAs {
  /** false: decide and show, write nothing at all. */
  enforce: boolean;
  /** How many machines of one check may be in remediation at once, where the check itself says nothing. Absent: as many as it allows. */
  maxInFlight?: IntOrPercent;
}

export interface HealthCheckDependencies {
  clock: Clock;
  /** The cluster of Machines, of this program, and of its NodeFences. */
  cluster: Cluster;
  recorder: Recorder;
  log: Logger;
  metrics: HealthCheckMetrics;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  checks: WatchedKind;
  /** Its lister has `MACHINE_INDEXES`. */
  machines: WatchedKind;
  /** Absent: the kind Cluster is not served, and its gates are skipped. */
  clusters?: WatchedKind;
  /** Of this cluster. */
  nodes: Lister<Node>;
  fences: Lister<NodeFence>;
  /** Of medik8s, by which others have a node; absent: nobody's. */
  nodeLeases?: Lister<Lease>;
  /** Why the machine of this Node of this cluster is to be kept as it is, in words; undefined: it is not. Absent: nobody preserves any. */
  preservedBecause?: (node: string) => string | undefined;
  kinds: RemediationKinds;
  workloads: WorkloadClusters;
  /** See Executor. */
  mend?: string;
  options: HealthCheckOptions;
}
