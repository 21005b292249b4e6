import type { RemedyStage } from '../../domain/policies/remedied.ts';
import type { MaintenanceMark } from '../../domain/policies/view.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { FastDetection } from '../../ports/fast-detection.ts';
import type { Unfencing } from '../../ports/node-daemons.ts';
import type { Runner } from '../../ports/jobs.ts';
import type { KernelDumps } from '../../ports/kdump.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { FenceMetrics } from '../../ports/metrics.ts';
import type { Lease, Node, Pod, VolumeAttachment } from '../../ports/objects.ts';
import type { Planner } from '../../ports/planner.ts';
import type { Preservation } from '../../ports/preservation.ts';
import type { Random } from '../../ports/random.ts';
import type { Logger, Recorder } from '../../ports/recorder.ts';
import type { ConnectivityProbes } from '../../ports/connectivity.ts';
import type { NodeFence, NodeFenceAcknowledgement, NodeFenceReport, NodeFenceStop } from '../../ports/resources.ts';
import type { NodeLeases } from '../shared/claims/node-leases.ts';

/** Index of pods by `spec.nodeName`, and of VolumeAttachments by `spec.nodeName`. */
export const BY_NODE = 'node';

export interface FenceListers {
  nodes: Lister<Node>;
  /** Of namespace kube-node-lease. */
  leases: Lister<Lease>;
  pods: Lister<Pod>;
  volumeAttachments: Lister<VolumeAttachment>;
  fences: Lister<NodeFence>;
  stops: Lister<NodeFenceStop>;
  acknowledgements: Lister<NodeFenceAcknowledgement>;
  reports: Lister<NodeFenceReport>;
}

/** Where the shell asks to be called again for a node; the earliest wish wins. */
export interface Queue {
  add(node: string, delayMs?: number): void;
  /** Before all others that wait: what a device showed grows old. */
  addFirst(node: string): void;
}

export interface FenceOptions {
  /** `observe` decides, explains and records everything and touches nothing. */
  mode: 'observe' | 'enforce';
  /** The node on which this process runs: never fenced by it (P10). */
  ownNode: string | undefined;
  /** Has the server the out-of-service taint (Kubernetes 1.26)? */
  outOfService: boolean;
  /** A view of nodes or leases older than this judges nobody. */
  staleAfterMs: number;
  /** No set begins on an answer about stops older than this (P6); 1.5 s unless told. */
  stopAnswerMaxAgeMs?: number;
}

export interface FenceDependencies {
  clock: Clock;
  random: Random;
  cluster: Cluster;
  listers: FenceListers;
  leadership: Leadership;
  runner: Runner;
  planner: Planner;
  queue: Queue;
  recorder: Recorder;
  log: Logger;
  metrics: FenceMetrics;
  options: FenceOptions;
  /** Probes around the controller; absent: nobody is asked. */
  connectivity?: ConnectivityProbes;
  /** Marks of others that stand in objects of their own; absent: none is looked for. */
  foreignMarks?: ForeignMarks;
  /** The node leases that other remediators of the cluster respect; absent: none are honoured, none is taken. */
  nodeLeases?: Pick<NodeLeases, 'take' | 'holdOn'>;
  /** What is kept of the machines of nodes, and until when; absent: nothing is. */
  preservation?: Preservation;
  /** Who is taken for failed before Kubernetes says so; absent: nobody. */
  fastDetection?: FastDetection;
  /** Which nodes put their storage registrations back by themselves; absent: none. */
  unfencing?: Unfencing;
  /** Nodes whose machines are switched off on request, without a NodeFence; absent: none are. */
  offsOnRequest?: { readonly all: ReadonlyMap<string, RemedyStage> };
  /** What is heard of crash kernels; absent: nobody listens, and nothing waits for a dump. */
  kdump?: KernelDumps;
  /** Who could lead in our place while our own node is the target, in words; absent: not known. */
  successor?: () => string;
  /** Gives up the Lease, so that a term above this epoch begins; absent: the caller leads nothing. */
  stepDown?: (found: { epoch: number; message: string }) => void;
  /** Was a leader alive right before this process led? Absent: not known. */
  tookOver?: () => boolean;
}

/** Who else has a node in hand, as objects beside the Node say. */
export interface ForeignMarks {
  marksOf(node: string): readonly MaintenanceMark[];
  /** False: what was asked for has not been read yet, and any node may have a mark. */
  readonly isRead: boolean;
  /** Somebody is to be judged: look for marks from now on, and go on. Costs nothing when it is asked again. */
  ask(): void;
  rest(): void;
  /** Nothing is read from now on. */
  close(): void;
  /** Called with the nodes whose marks may have changed, and when what was asked for is read. */
  onChange(listener: (nodes: readonly string[]) => void): void;
}
