import type { Clock } from '../../ports/clock.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { FenceMetrics, ProblemMetrics } from '../../ports/metrics.ts';
import type { Node, Pod } from '../../ports/objects.ts';
import type { Logger, Recorder } from '../../ports/recorder.ts';
import type { AlarmSettings } from '../../ports/remedies.ts';
import type { NodeFence, NodeFenceReport } from '../../ports/resources.ts';
import type { NodeEvent } from './node-event.ts';

export interface ProblemDependencies {
  clock: Clock;
  cluster: Cluster;
  recorder: Recorder;
  log: Logger;
  metrics: ProblemMetrics;
  /** A raised alarm is a problem that needs attention, as those of the fence controller are. */
  attention: Pick<FenceMetrics, 'problem'>;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  settings: AlarmSettings;
  listers: {
    nodes: Lister<Node>;
    reports: Lister<NodeFenceReport>;
    fences: Lister<NodeFence>;
    /** Indexed by `podIndex`. */
    pods: Lister<Pod>;
    events: Lister<NodeEvent>;
  };
  podIndex: string;
  /** Why Events cannot be read; undefined: they are read. */
  eventsProblem: () => string | undefined;
  /** For `nodefence status`. */
  tellProblems: (problems: readonly string[]) => void;
  queue: { add(key: string, delayMs?: number): void };
}
