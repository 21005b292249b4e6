import type { Clock } from '../../ports/clock.ts';
import type { Cluster, Lister, Resource } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { BareMetalHost, Metal3Remediation, Metal3RemediationTemplate } from '../../ports/metal3.ts';
import type { SecondaryControllerMetrics } from '../../ports/metrics.ts';
import type { Node, Pod } from '../../ports/objects.ts';
import type { Logger, Recorder } from '../../ports/recorder.ts';
import type { StormHolds } from '../../ports/storm.ts';
import type { HostObservations } from '../shared/baremetal-host/host-observations.ts';
import type { OffsOnRequest } from '../shared/remediation/offs-on-request.ts';
import type { Workload } from './workload.ts';

/** A kind in the version that is served, as it is watched. */
export interface Watched<T extends Metal3Remediation | Metal3RemediationTemplate> {
  resource: Resource<T>;
  lister: Lister<T>;
}

/** The cluster of a Node. */
export interface NodeCluster {
  cluster: Cluster;
  /** Has it the out-of-service taint for good (1.28)? Rejects when it does not say its version. */
  servesOutOfService: () => Promise<boolean>;
}

export interface Metal3RemediationDependencies {
  clock: Clock;
  /** Of the remediations, Machines and hosts. */
  own: NodeCluster;
  recorder: Recorder;
  log: Logger;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  remediations: Watched<Metal3Remediation>;
  templates: Watched<Metal3RemediationTemplate>;
  /** Wake those that are about them; where a Machine is gone its host is found here. */
  hosts: Lister<BareMetalHost>;
  /** Whether anybody serves them. */
  served: Pick<HostObservations, 'see' | 'forget' | 'isUnserved'>;
  /** Of the same cluster. */
  nodes: Lister<Node>;
  /** What of a Node of the same cluster is not let go yet, as the watches have it. */
  workloadOf: (node: string) => Workload;
  /** Pods of a Node of the same cluster, as the watch has them. */
  podsOf: (node: string) => readonly Pod[];
  /** By namespace and name of the Secret. `undefined`: there is no such Secret. Rejects when it cannot be read or used. */
  workloads: (secret: { namespace: string; name: string }) => Promise<NodeCluster | undefined>;
  /** For Nodes of the own cluster. */
  stormHolds: StormHolds;
  offsOnRequest: Pick<OffsOnRequest, 'begin' | 'see' | 'forget'>;
  metrics: SecondaryControllerMetrics;
  queue: { add(key: string, delayMs?: number): void };
  /** See Reconciler. */
  mend?: string;
  options: {
    /** false: nothing is written. */
    enforce: boolean;
    /** Of the node leases; `undefined`: there are none, and no node is touched. */
    nodeLeaseNamespace: string | undefined;
    /** Something that looks like an operator of hosts runs in the cluster, or may. */
    hasOperator: () => boolean;
    /** The Node that this runs on: it is never switched off from here. */
    ownNode?: string | undefined;
    /** Hosts that are power-cycled at the same time. */
    inFlightMax: number;
  };
}

/** Whose lock on a node it is (docs/adr/0009). */
export const LOCK_HOLDER = 'nodefence-metal3-remediation';
