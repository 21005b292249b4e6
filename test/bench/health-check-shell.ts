import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MachineHealthCheckController } from '../../src/controllers/machine-health-check/controller.ts';
import type { WatchedKind } from '../../src/controllers/machine-health-check/dependencies.ts';
import { ObjectCache } from '../../src/kube/lister.ts';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import { apiClusters, CLUSTER_API_GROUP, clusterMachines, machineHealthChecks } from '../../src/ports/cluster-api.ts';
import type { UntypedObject } from '../../src/ports/cluster-api.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { KubeObject, Node } from '../../src/ports/objects.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { costedSpreadOf, rounded } from './figures.ts';
import type { CostedSpread } from './figures.ts';

export interface HealthCheckShellFigures {
  /** From the first word of the watches to all checks decided, the objects read included: CPU, the median of a few rounds. */
  fullMs: number;
  /** A Node changes: taken in, decided and handed to the writers. */
  event: CostedSpread;
  /** The same while the failed machines wait for their writes. */
  eventInStorm: CostedSpread;
}

export interface HealthCheckScale {
  machines: number;
  checks: number;
  failed: number;
}

const NOW_MS = Date.UTC(2027, 0, 1);
const ROUNDS = 7;
const WARM_UP = 3;
const EVENTS = 1_000;
/** As the controller's pace: one look for each event. */
const PACE_MS = 100;
const NAMESPACE = 'machines';
const quiet = (): void => undefined;
const QUIET = { debug: quiet, info: quiet, warn: quiet, error: quiet };

function ago(seconds: number): string {
  return new Date(NOW_MS - seconds * 1_000).toISOString();
}

function metadataOf(name: string, more: Partial<KubeObject['metadata']> = {}): KubeObject['metadata'] {
  return { name, namespace: NAMESPACE, uid: `uid-${name}`, resourceVersion: '1', creationTimestamp: ago(86_400), ...more };
}

function nodeOf(index: number, isWell: boolean, resourceVersion = '1'): Node {
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

function cacheOf<T extends KubeObject>(objects: readonly T[]): ObjectCache<T> {
  const cache = new ObjectCache<T>({}, QUIET);
  cache.replaceAll(objects);
  cache.synced = true;
  cache.freshAtMs = Number.POSITIVE_INFINITY;
  return cache;
}

/** What the bench itself has left behind costs the controller nothing. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** A cluster whose Nodes are this one's, and whose API server takes as long as it likes with every write. */
class Bench {
  readonly clock = new ManualClock({ wallMs: NOW_MS });
  readonly nodes: ObjectCache<Node>;
  readonly controller: MachineHealthCheckController;

  constructor({ machines, checks, failed }: HealthCheckScale) {
    const indexes = Array.from({ length: machines }, (_none, index) => index);
    this.nodes = cacheOf(indexes.map((index) => nodeOf(index, index >= failed)));
    const watched = (resource: Resource<UntypedObject>, objects: readonly UntypedObject[]): WatchedKind => ({ resource, lister: cacheOf(objects) });
    const never = (): Promise<never> => new Promise(quiet);
    const cluster = { get: never, list: never, create: never, mergePatch: never, remove: never } as unknown as Cluster;
    const checkObjects = Array.from({ length: checks }, (_none, index) => checkOf(index));
    this.controller = new MachineHealthCheckController({
      ...{ clock: this.clock, cluster, recorder: { event: quiet }, log: QUIET, metrics: NO_METRICS.healthChecks },
      leadership: { isLeading: true, mayBegin: () => true },
      checks: watched(machineHealthChecks(CLUSTER_API_GROUP, 'v1beta2'), checkObjects),
      machines: watched(
        clusterMachines('v1beta2'),
        indexes.map((index) => machineOf(index, checks)),
      ),
      clusters: watched(apiClusters('v1beta2'), [clusterObject()]),
      nodes: this.nodes,
      fences: cacheOf<NodeFence>([]),
      kinds: { want: quiet, of: () => 'absent', onChange: () => quiet },
      workloads: { want: quiet, of: () => 'no-kubeconfig', problems: () => [], whyNot: () => undefined, onChange: () => quiet },
      options: { enforce: true, hasBothLists: true },
    });
  }

  /** Every object as at the first word of the watches; CPU until all is decided. */
  async begin(): Promise<number> {
    collectGarbage();
    const began = cpuMs();
    this.controller.start();
    await this.clock.advance(0);
    return cpuMs() - began;
  }

  /** Machines whose check has failed. */
  failed(): number {
    return this.controller.views().reduce((sum, { failed }) => sum + failed, 0);
  }

  /** Until what this Node says is decided upon. */
  async change(node: Node): Promise<void> {
    this.nodes.put(node);
    await this.clock.advance(PACE_MS);
  }
}

async function eventsOf(scale: HealthCheckScale): Promise<CostedSpread> {
  const bench = new Bench(scale);
  await bench.begin();
  if (bench.failed() !== scale.failed)
    throw new Error(`${bench.failed()} of ${scale.failed} failed machines were found: this measures something else`);
  const others = scale.machines - scale.failed;
  return costedSpreadOf(EVENTS, (event) => {
    const index = scale.failed + (Math.floor(event / 2) % others);
    return bench.change(nodeOf(index, event % 2 === 1, String(event + 2)));
  });
}

/** The controller of MachineHealthChecks as it runs, but for the API server: its listers hold what watches would bring, no write is ever answered. */
export async function measureHealthCheckShell(scale: HealthCheckScale): Promise<HealthCheckShellFigures> {
  const runs: number[] = [];
  for (let round = 0; round < ROUNDS + WARM_UP; round += 1) runs.push(await new Bench(scale).begin());
  const median = runs.slice(WARM_UP).toSorted((left, right) => left - right)[Math.floor(ROUNDS / 2)] ?? Number.NaN;
  return { fullMs: rounded(median), event: await eventsOf({ ...scale, failed: 0 }), eventInStorm: await eventsOf(scale) };
}
