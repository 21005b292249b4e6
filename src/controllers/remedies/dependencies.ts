import type { AttestedWell } from '../../domain/node-daemon/found-well.ts';
import type { BatchJob } from '../../ports/batch.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { RemedyMetrics } from '../../ports/metrics.ts';
import type { Node } from '../../ports/objects.ts';
import type { Planner } from '../../ports/planner.ts';
import type { NodeProblem } from '../../ports/problems.ts';
import type { Prober } from '../../ports/probes.ts';
import type { Random } from '../../ports/random.ts';
import type { RemedySettings } from '../../ports/remedies.ts';
import type { Logger, Recorder } from '../../ports/recorder.ts';
import type { NodeFence, NodeFenceReport, NodeFenceStop } from '../../ports/resources.ts';
import type { RemedyHolds } from '../../ports/storm.ts';

export interface RemedyListers {
  nodes: Lister<Node>;
  reports: Lister<NodeFenceReport>;
  fences: Lister<NodeFence>;
  stops: Lister<NodeFenceStop>;
  /** Those of remedies, in the fence namespace. */
  jobs: Lister<BatchJob>;
}

export interface RemedyDependencies {
  clock: Clock;
  random: Random;
  cluster: Cluster;
  log: Logger;
  recorder: Recorder;
  metrics: RemedyMetrics;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  planner: Pick<Planner, 'planFor' | 'parametersFor'>;
  prober: Prober;
  listers: RemedyListers;
  settings: RemedySettings;
  queue: { add(key: string, delayMs?: number): void };
  /** When a sign of life of the node's kubelet was last received here. */
  lifeAtMs: (node: string) => number | undefined;
  remedyHolds: RemedyHolds;
  /** Conditions that the daemon of the node looked at and found well; absent: no daemons are heard. */
  foundWell?: ((node: string) => AttestedWell | undefined) | undefined;
  /** Counts what goes wrong; absent: nobody does. */
  countProblem?: ((problem: NodeProblem) => void) | undefined;
  options: {
    namespace: string;
    mode: 'observe' | 'enforce';
    /** This process runs on it. */
    ownNode?: string;
  };
}
