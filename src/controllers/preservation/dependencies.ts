import type { Clock } from '../../ports/clock.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { Machine, MachineDeployment, MachineSet } from '../../ports/machines.ts';
import type { PreservationMetrics } from '../../ports/metrics.ts';
import type { Lease, Node, Pod } from '../../ports/objects.ts';
import type { ProofReader } from '../../ports/proof-reads.ts';
import type { Logger, Recorder } from '../../ports/recorder.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { AutomaticSpelling } from './names.ts';
import type { PoolSettings, Snapshot } from './snapshot.ts';

/** Index of the Pod lister: the name of its node, as the fence controller has it. */
export const PODS_BY_NODE = 'node';

/** The cluster of the Nodes; NodeFences live there too. Leases are those of the nodes. */
export interface NodeSide {
  cluster: Cluster;
  recorder: Recorder;
  listers: { nodes: Lister<Node>; fences: Lister<NodeFence>; leases: Lister<Lease>; pods: Lister<Pod> };
}

/** The cluster of the Machines; may be another API server (Gardener's seed). */
export interface MachineSide {
  cluster: Cluster;
  recorder: Recorder;
  listers: { machines: Lister<Machine>; machineSets: Lister<MachineSet>; machineDeployments: Lister<MachineDeployment> };
}

export interface PreservationOptions {
  mode: Snapshot['mode'];
  /** See Snapshot. */
  hasExpiryField: boolean;
  spelling: AutomaticSpelling;
  /** See Snapshot. */
  requestsWhenFailed: boolean;
  /** false: decide and show, write nothing at all. */
  enforce: boolean;
  /** How long a guard may be `unknown` because the Machines, or those that own them, are not heard; then what the Node and the heard Machine themselves show decides. Default 45 s. */
  freshWithinMs?: number;
}

export interface PreservationDependencies {
  clock: Clock;
  nodes: NodeSide;
  /** Absent: plain Nodes only. */
  machines?: MachineSide;
  /** Asked at each look; the same map as long as nothing has changed. */
  pools: () => { pools: ReadonlyMap<string, PoolSettings>; problems: readonly string[] };
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  /** Of the cluster of the Nodes. */
  proofReader: ProofReader;
  /** What now keeps it from its work and cannot be told from the objects, one sentence each, for those who ask for the status; empty: nothing. */
  tellProblems: (problems: readonly string[]) => void;
  log: Logger;
  metrics: PreservationMetrics;
  /** See Executor. */
  mend?: string;
  options: PreservationOptions;
}
