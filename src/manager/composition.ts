import type { FenceDependencies, FenceOptions } from '../controllers/fence/dependencies.ts';
import type { PreservationChoice } from '../config/preservation-mode.ts';
import type { RemedyText } from '../config/remedies.ts';
import type { ReflectorTimings } from '../kube/reflector-timings.ts';
import type { AddressRules, AgentContext, AgentRegistry, HostEnvironment } from '../ports/agents.ts';
import type { ApiTransport } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { Cluster, Lister } from '../ports/cluster.ts';
import type { KdumpSocket } from '../ports/kdump.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { DatagramSocket, ExchangeKeyPairs } from '../ports/node-daemon.ts';
import type { ConfigMap, Node, Secret } from '../ports/objects.ts';
import type { Runner } from '../ports/jobs.ts';
import type { Load } from '../ports/load.ts';
import type { Planner } from '../ports/planner.ts';
import type { Random } from '../ports/random.ts';
import type { Logger, Recorder } from '../ports/recorder.ts';
import type { ConnectivityProbes } from '../ports/connectivity.ts';
import type { HealthCheckChoice } from './health-checks/mode.ts';
import type { MachineRemediationChoice } from './machine-remediation/mode.ts';
import type { Metal3RemediationChoice } from './metal3-remediation/mode.ts';
import type { Reach } from './workload-pool.ts';

export const LEADER_LEASE = 'nodefence-controller';
/** What the leader says of itself on its Lease: `observe` or `enforce`, and the node that it runs on, if any. */
export const LEADER_MODE = 'nodefence.ha.k8s.io/mode';
export const LEADER_NODE = 'nodefence.ha.k8s.io/node';
/** And with which --preservation it was started. */
export const LEADER_PRESERVATION = 'nodefence.ha.k8s.io/preservation';
/** And with which --health-checks. */
export const LEADER_HEALTH_CHECKS = 'nodefence.ha.k8s.io/health-checks';
/** And from which folder it runs programs that a configuration names; empty: none. */
export const LEADER_PROGRAMS = 'nodefence.ha.k8s.io/programs';
/** And the networks in which devices may be; empty: all but special ones. */
export const LEADER_DEVICE_ADDRESSES = 'nodefence.ha.k8s.io/device-addresses';

export interface ControllerOptions extends FenceOptions {
  /** Of ConfigMaps, Secrets and the leader Lease. */
  namespace: string;
  /** For the Lease; a fresh identifier is appended. */
  identity: string;
  /** Nodes worked on at the same time, at most. */
  concurrency: number;
  lease?: { durationMs: number; renewDeadlineMs: number; retryMs: number };
  reflector?: Partial<ReflectorTimings>;
  /** Where medik8s keeps one Lease for each node in hand: honoured, and taken while a fence is open. Absent: nobody's. */
  nodeLeaseNamespace?: string;
  /** Are devices read while nothing is wrong? Absent: no. */
  probes?: boolean;
  /** Of machines; absent: as `off`. */
  preservation?: PreservationChoice;
  /** Of the Machines; absent: all. */
  machinesNamespace?: string;
  /** NodeFenceRemediation, where its kinds are installed; absent: no. */
  remediation?: boolean;
  /** Of machines; absent: as `off`. */
  healthChecks?: HealthCheckChoice;
  /** By the annotations of the metal3 design; absent: as `off`. */
  machineRemediation?: MachineRemediationChoice;
  /** In place of Metal3's own controller; absent: as `off`. */
  metal3Remediation?: Metal3RemediationChoice;
  /** Remedies of conditions, where a Configuration is there; absent: no. */
  remedies?: boolean;
  /** Folder of programs, as it is told on the Lease; empty: none. Absent: nothing is told. */
  programs?: string;
  /** Networks of devices, as they are told on the Lease; empty: all but special ones. Absent: nothing is told. */
  deviceAddresses?: string;
  /** For the first list of every watched kind. */
  syncDeadlineMs: number;
  /** At least so long between two looks for controllers of others; absent: as long as each part rests by itself. The simulation, where nobody else appears. */
  detectionRestMs?: number;
}

/** Everything outside the process, real or simulated. */
export interface ControllerPorts {
  transport: ApiTransport;
  clock: Clock;
  random: Random;
  registry: AgentRegistry;
  logger: Logger;
  metrics: Metrics;
  recorder: Recorder;
  /** How busy this process is; absent: as many nodes are worked on at once as may be. */
  load?: Load;
  planner: (sources: {
    cluster: Cluster;
    configMaps: Lister<ConfigMap>;
    secrets: Lister<Secret>;
    nodes: Lister<Node>;
    registry: AgentRegistry;
  }) => Planner;
  /** The cluster of the Machines, where it is another one. */
  machines?: { transport: ApiTransport; recorder: Recorder };
  /** Probes around the controller; absent: nobody is asked. */
  connectivity?: (cluster: Cluster) => ConnectivityProbes;
  /** Clusters besides the own, where agents find machines or storage; absent: none can be reached. */
  connect?: NonNullable<AgentContext['connect']>;
  /** Where this process finds credentials for clouds; absent: nowhere. */
  host?: HostEnvironment;
  /** Which addresses agents may call; absent: every one. */
  addresses?: AddressRules;
  /** Where node daemons are heard, and by which keys; absent: they are not served. */
  nodeDaemons?: {
    socket: DatagramSocket;
    keyPairs: ExchangeKeyPairs;
    /** Labels by which Nodes share a failure domain; the first that a Node has counts. */
    topologyKeys: readonly string[];
  };
  /** Where the messages of crash kernels arrive; absent: none is heard. */
  kdump?: { socket: KdumpSocket };
  /** Configurations of remedies in files of this machine, as they are now; throws where they cannot be read. Absent: there are none. */
  remedyFiles?: () => readonly RemedyText[];
  /** Clusters whose Nodes are watched, by their kubeconfig; absent: none can be reached. */
  reach?: Reach;
  /** The process must end: the lease is lost, or was handed over because the node of this process is to be fenced. */
  exit: (reason: string, how: 'lost' | 'handed-over') => void;
  /** The simulation puts mutants in here. */
  wrapRunner?: (runner: Runner) => Runner;
  /** And here, where the defect is elsewhere than in the runner. */
  mutate?: (dependencies: FenceDependencies) => FenceDependencies;
}
