import type { HostFacts } from '../shared/baremetal-host/host.ts';
import type { HoldFact, Marks } from '../shared/remediation/actions.ts';
import type { NodeFacts } from '../shared/remediation/node.ts';

/** A Machine of `machine.openshift.io/v1beta1`, or of `cluster.x-k8s.io`. */
export interface MachineFacts {
  apiVersion: string;
  name: string;
  namespace: string;
  uid: string;
  labels: Marks;
  annotations: Marks;
  isDeleting: boolean;
  /** It, or its Cluster, is paused. */
  isPaused: boolean;
  /** An owner with `controller: true` makes a new one in its place. */
  hasController: boolean;
  /** metal3: the object that spec.infrastructureRef names. OpenShift has none. */
  infrastructure?: { kind: string; name: string; annotations: Marks };
}

/** A MachineHealthCheck of the Machine's API, as far as it says how long a node may take to start. */
export interface HealthCheckFacts {
  name: string;
  namespace: string;
  selector: LabelSelector;
  /** spec.clusterName; OpenShift has none. */
  clusterName?: string;
  /** 0: as long as it likes. */
  nodeStartupTimeoutMs?: number;
}

export interface LabelSelector {
  matchLabels?: Marks;
  matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] }[];
}

export interface Settings {
  /** incident: the table and a mark for each incident, without which it loops. seed-table: the table, annotations only, nothing added. */
  mode: 'incident' | 'seed-table';
  /** After it, a host that is not proven off is told of; what can not be proven at all is given up. */
  powerOffTimeoutMs: number;
  /** Our own agents can read the BMC: a host that is off already can be proven so. */
  canReadBmc: boolean;
}

/** Volumes that are attached to a Node: they stay so for six minutes after it is deleted, and no pod that needs them starts elsewhere. */
export interface VolumeFacts {
  attached: number;
  /** The cluster knows the out-of-service taint, by which they are detached at once. */
  servesOutOfService: boolean;
  /** Since when this process has seen that taint on the Node, whosever it is, or has failed to set it. */
  waitedSinceMs?: number;
}

/** All that `decide` reads about one Machine with its host and its Node, or about a host with our hold whose Machine is gone. */
export interface Snapshot {
  /** Wall clock: for the marks that people and a successor read. */
  nowMs: number;
  /** Clock of everything `seenMs`. */
  monotonicMs: number;
  settings: Settings;
  /** Absent: no Machine names this host any more. */
  machine?: MachineFacts;
  host?: HostFacts;
  /** On which our hold stands for this Machine, where that names no host any more. */
  leftHost?: HostFacts;
  /** The Node of status.nodeRef, where it exists. */
  node?: NodeFacts;
  /** Of that Node, where any are attached; said only while our hold stands. */
  volumes?: VolumeFacts;
  healthChecks: readonly HealthCheckFacts[];
  /** Since when the Nodes are heard, by the wall clock: an outage of the API server before it is no silence of a Node. Absent: always. */
  nodesFreshSinceMs?: number;
  /** The same of the hosts, by the clock of everything `seenMs`. */
  hostsFreshSinceMs?: number;
  /** By the clock of everything `seenMs`: until when the Node of the Machine may take to come back. Absent: as the deadline says that stands on it. */
  timesOutMs?: number;
  holds: readonly HoldFact[];
  /** The NodeFence that has brought the Node back since this Machine was asked for. */
  recoveredBy?: string;
  /** Who else has the node, in words: then it is left alone. */
  takenBy?: string;
}
