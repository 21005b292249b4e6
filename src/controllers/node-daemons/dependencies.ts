import type { WrittenTimes } from '../../domain/node-daemon/times.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster, Lister } from '../../ports/cluster.ts';
import type { Leadership } from '../../ports/leadership.ts';
import type { NodeDaemonMetrics } from '../../ports/metrics.ts';
import type { DatagramSocket, ExchangeKeyPairs } from '../../ports/node-daemon.ts';
import type { ConfigMap, Lease, Node } from '../../ports/objects.ts';
import type { Prober } from '../../ports/probes.ts';
import type { Logger, Recorder } from '../../ports/recorder.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import type { FastDetectionSources } from './fast/fast-detection.ts';

export interface NodeDaemonDependencies {
  clock: Clock;
  cluster: Cluster;
  log: Logger;
  metrics: NodeDaemonMetrics;
  recorder: Recorder;
  leadership: Pick<Leadership, 'isLeading' | 'mayBegin' | 'epoch'>;
  socket: DatagramSocket;
  keyPairs: ExchangeKeyPairs;
  listers: {
    nodes: Lister<Node>;
    reports: Lister<NodeFenceReport>;
    /** Of the fence namespace: attestations, and where replicas announce themselves. */
    leases: Lister<Lease>;
    /** Of the fence namespace. */
    configMaps: Lister<ConfigMap>;
  };
  /** What the configuration says of the daemons' times. */
  writtenTimes: () => WrittenTimes;
  /** Absent: nobody is suspected by silence. */
  fast?: FastDetectionSources & { prober: Prober };
  /** For `nodefence status`. */
  tellProblems: (problems: readonly string[]) => void;
  options: NodeDaemonOptions;
}

export interface NodeDaemonOptions {
  namespace: string;
  /** Of this replica among the others. */
  replica: string;
  /** Lease on which replicas announce themselves. */
  replicasLease: string;
  /** Labels of Nodes by which they share a rack, a switch, a zone; the first that a Node has counts. */
  topologyKeys: readonly string[];
}
