import type { Clock } from '../../ports/clock.ts';
import type { ClusterMachine } from '../../ports/cluster-api.ts';
import type { Cluster, Lister, Resource } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { BareMetalHost } from '../../ports/metal3.ts';
import type { SecondaryControllerMetrics } from '../../ports/metrics.ts';
import type { Lease, Node } from '../../ports/objects.ts';
import type { Logger, Recorder } from '../../ports/recorder.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { StormHolds } from '../../ports/storm.ts';
import type { NodeLock } from '../shared/claims/node-lock.ts';
import type { OffsOnRequest } from '../shared/remediation/offs-on-request.ts';
import type { Settings } from './snapshot.ts';

/** Indexes of Machines: by whatever may name the host, and by the Node. */
export const BY_HOST = 'host';
export const BY_NODE = 'node';

/** Machines of one API and their watch, with both indexes. */
export interface WatchedMachines {
  resource: Resource<ClusterMachine>;
  lister: Lister<ClusterMachine>;
}

export interface MachineRemediationDependencies {
  clock: Clock;
  /** Of the Machines, the hosts and the Nodes. */
  cluster: Cluster;
  recorder: Recorder;
  log: Logger;
  metrics: SecondaryControllerMetrics;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  machines: readonly WatchedMachines[];
  /** Absent: the kind is not served, so that nobody serves a host. */
  hosts?: Lister<BareMetalHost>;
  nodes: Lister<Node>;
  /** Of namespace kube-node-lease. */
  leases: Lister<Lease>;
  fences: Lister<NodeFence>;
  /** How many volumes are attached to a Node, as the watch has it. */
  volumesOn: (node: string) => number;
  /** Has this cluster the out-of-service taint? Rejects when it does not say its version. */
  servesOutOfService: () => Promise<boolean>;
  stormHolds: StormHolds;
  offsOnRequest: Pick<OffsOnRequest, 'begin' | 'see' | 'forget'>;
  /** Takes nodes by writes to this cluster. */
  lockOn: (cluster: Cluster) => Pick<NodeLock, 'take' | 'giveBack'>;
  queue: { add(key: string, delayMs?: number): void };
  /** See Reconciler. */
  mend?: string;
  options: {
    /** false: nothing is written. */
    enforce: boolean;
    /** The node on which this process runs: never switched off by it (P10). */
    ownNode: string | undefined;
    /** Of the node leases; undefined: there are none. */
    nodeLeaseNamespace: string | undefined;
    /** Something that looks like an operator of hosts runs in the cluster, or may. */
    hasOperator: () => boolean;
    settings: Settings;
  };
}
