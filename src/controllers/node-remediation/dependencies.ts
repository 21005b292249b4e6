import type { Clock } from '../../ports/clock.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { RemediationMetrics } from '../../ports/metrics.ts';
import type { ProofReader } from '../../ports/proof-reads.ts';
import type { Logger, Recorder } from '../../ports/recorder.ts';
import type { NodeFenceRemediation, NodeFenceRemediationTemplate, RemediationKind } from '../../ports/remediation.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { WorkloadClusters } from '../shared/remediation/place.ts';

/** A kind of request that is served here, as it is watched. */
export interface WatchedKind extends RemediationKind {
  listers: { requests: Lister<NodeFenceRemediation>; templates: Lister<NodeFenceRemediationTemplate> };
}

export interface RemediationDependencies {
  clock: Clock;
  /** The cluster of the requests. */
  cluster: Cluster;
  recorder: Recorder;
  log: Logger;
  metrics: RemediationMetrics;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin'>;
  kinds: readonly WatchedKind[];
  /** Of the same cluster: wakes requests whose fence has changed. */
  fences: Lister<NodeFence>;
  /** Of the same cluster: nobody else's devices are read from here. */
  proofReader: ProofReader;
  workloadClusters: WorkloadClusters;
  queue: { add(key: string, delayMs?: number): void };
  /** See Reconciler. */
  mend?: string;
  options: {
    /** false: nothing is written. */
    enforce: boolean;
    /** Requests with a fence under way at the same time. */
    inFlightMax?: number;
  };
}
