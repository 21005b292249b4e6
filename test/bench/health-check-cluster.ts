import type { HealthCheckDependencies, WatchedKind } from '../../src/controllers/machine-health-check/dependencies.ts';
import { MACHINE_INDEXES } from '../../src/controllers/machine-health-check/indexes.ts';
import { ObjectCache } from '../../src/kube/lister.ts';
import type { Indexers } from '../../src/kube/lister.ts';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import { apiClusters, CLUSTER_API_GROUP, clusterMachines, machineHealthChecks } from '../../src/ports/cluster-api.ts';
import type { UntypedObject } from '../../src/ports/cluster-api.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { KubeObject, Node } from '../../src/ports/objects.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';

export interface HealthCheckScale {
  machines: number;
  checks: number;
  failed: number;
}

const NOW_MS = Date.UTC(2027, 0, 1);
const NAMESPACE = 'machines';
const quiet = (): void => undefined;
const QUIET = { debug: quiet, info: quiet, warn: quiet, error: quiet };

function ago(seconds: number): string {
  return new Date(NOW_MS - seconds * 1_000).toISOString();
}

function metadataOf(name: string, more: Partial<KubeObject['metadata']> = {}): KubeObject['metadata'] {
  return { name, namespace: NAMESPACE, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: ago(86_400), ...more };
}

export function nodeOf(index: number, isWell: boolean, resourceVersion = '1'): Node {
  const ready = { type: 'Ready', status: isWell ? ('True' as const) : ('Unknown' as const), reason: 'Kubelet', lastTransitionTime: ago(400) };
  const others = ['MemoryPressure', 'DiskPressure', 'PIDPressure'].map((type) => ({
    type,
    status: 'False' as const,
    lastTransitionTime: ago(86_400),
  }));
  return {
    metadata: { name: `node-${index}`, uid: `uid-node-${index}`, resourceVersion },
    spec: { providerID: `bench:///${index}` },
    status: { conditions: [...others, ready] },
  };
}

function machineOf(index: number, checks: number): UntypedObject {
  const conditions = ['Available', 'BootstrapConfigReady', 'InfrastructureReady', 'NodeHealthy', 'NodeReady', 'Ready', 'HealthCheckSucceeded'].map(
    (type) => ({ type, status: 'True', reason: type, message: '', lastTransitionTime: ago(7_200) }),
  );
  const deprecated = { v1beta1: { conditions: conditions.map(({ type, status, lastTransitionTime }) => ({ type, status, lastTransitionTime })) } };
  const labels = { role: 'worker', pool: `pool-${index % checks}` };
  const status = { nodeRef: { name: `node-${index}` }, conditions, deprecated };
  return { metadata: metadataOf(`machine-${index}`, { labels }), spec: { clusterName: 'c', providerID: `bench:///${index}` }, status };
}

function checkOf(index: number): UntypedObject {
  const unhealthyNodeConditions = ['Unknown', 'False'].map((status) => ({ type: 'Ready', status, timeoutSeconds: 300 }));
  const selector = { matchLabels: { role: 'worker', pool: `pool-${index}` } };
  return { metadata: metadataOf(`check-${index}`), spec: { clusterName: 'c', selector, checks: { unhealthyNodeConditions } } };
}

function clusterObject(): UntypedObject {
  const conditions = ['ControlPlaneInitialized', 'InfrastructureReady'].map((type) => ({ type, status: 'True', lastTransitionTime: ago(86_400) }));
  return { metadata: metadataOf('c'), spec: {}, status: { conditions } };
}

function cacheOf<T extends KubeObject>(objects: readonly T[], indexes: Indexers<T> = {}): ObjectCache<T> {
  const cache = new ObjectCache<T>(indexes, QUIET);
  cache.replaceAll(objects);
  cache.synced = true;
  cache.freshAtMs = Number.POSITIVE_INFINITY;
  return cache;
}

/** A cluster whose Nodes are this one's, and whose API server takes as long as it likes with every write. */
export class BenchCluster {
  readonly clock = new ManualClock({ wallMs: NOW_MS });
  readonly nodes: ObjectCache<Node>;
  readonly dependencies: HealthCheckDependencies;

  constructor({ machines, checks, failed }: HealthCheckScale) {
    const indexes = Array.from({ length: machines }, (_none, index) => index);
    this.nodes = cacheOf(indexes.map((index) => nodeOf(index, index >= failed)));
    const watched = (resource: Resource<UntypedObject>, lister: ObjectCache<UntypedObject>): WatchedKind => ({ resource, lister });
    const never = (): Promise<never> => new Promise(quiet);
    const cluster = { get: never, list: never, create: never, mergePatch: never, remove: never } as unknown as Cluster;
    const checkObjects = Array.from({ length: checks }, (_none, index) => checkOf(index));
    const machineObjects = indexes.map((index) => machineOf(index, checks));
    this.dependencies = {
      ...{ clock: this.clock, cluster, recorder: { event: quiet }, log: QUIET, metrics: NO_METRICS.healthChecks },
      leadership: { isLeading: true, mayBegin: () => true },
      checks: watched(machineHealthChecks(CLUSTER_API_GROUP, 'v1beta2'), cacheOf(checkObjects)),
      machines: watched(clusterMachines('v1beta2'), cacheOf(machineObjects, MACHINE_INDEXES)),
      clusters: watched(apiClusters('v1beta2'), cacheOf([clusterObject()])),
      nodes: this.nodes,
      fences: cacheOf<NodeFence>([]),
      kinds: { want: quiet, of: () => 'absent', onChange: () => quiet },
      workloads: { want: quiet, of: () => 'no-kubeconfig', problems: () => [], whyNot: () => undefined, onChange: () => quiet },
      options: { enforce: true, hasBothLists: true },
    };
  }

  /** The next change: Nodes that are well go down and come up again, one after the other. */
  nextNode(event: number, { machines, failed }: HealthCheckScale): Node {
    return nodeOf(failed + (Math.floor(event / 2) % (machines - failed)), event % 2 === 1, String(event + 2));
  }
}
