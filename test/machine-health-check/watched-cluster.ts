import { HealthCheckCache } from '../../src/controllers/machine-health-check/cache.ts';
import { Changes } from '../../src/controllers/machine-health-check/changes.ts';
import type { FoundKind, FoundNodes, HealthCheckDependencies, WatchedKind } from '../../src/controllers/machine-health-check/dependencies.ts';
import { MACHINE_INDEXES } from '../../src/controllers/machine-health-check/indexes.ts';
import { kindKey } from '../../src/controllers/machine-health-check/snapshot.ts';
import { ObjectCache } from '../../src/kube/lister.ts';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import { apiClusters, CLUSTER_API_GROUP, clusterMachines, machineHealthChecks } from '../../src/ports/cluster-api.ts';
import type { ClusterApiVersion, UntypedObject } from '../../src/ports/cluster-api.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { KubeObject, Lease, Node } from '../../src/ports/objects.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { NOW_MS, TEMPLATE_REF } from './objects.ts';

const quiet = (): void => undefined;
const QUIET = { debug: quiet, info: quiet, warn: quiet, error: quiet };

function synced<T extends KubeObject>(cache: ObjectCache<T>): ObjectCache<T> {
  cache.synced = true;
  cache.freshAtMs = Number.POSITIVE_INFINITY;
  return cache;
}

function listed<T extends KubeObject>(): ObjectCache<T> {
  return synced(new ObjectCache<T>({}, QUIET));
}

const [GROUP, VERSION] = TEMPLATE_REF.apiVersion.split('/') as [string, string];
const REQUEST_KIND = TEMPLATE_REF.kind.replace('Template', '');

function resourceOf(kind: string): Resource<UntypedObject> {
  return { group: GROUP, version: VERSION, kind, plural: `${kind.toLowerCase()}s`, namespaced: true };
}

/** What watches have brought, without an API server: each change is told to whoever listens. */
export class WatchedCluster {
  readonly clock = new ManualClock({ wallMs: NOW_MS });
  readonly checks = listed<UntypedObject>();
  readonly machines = synced(new ObjectCache<UntypedObject>(MACHINE_INDEXES, QUIET));
  readonly clusters = listed<UntypedObject>();
  readonly nodes = listed<Node>();
  /** Behind a kubeconfig, where `workloads` says so. */
  readonly remoteNodes = listed<Node>();
  readonly fences = listed<NodeFence>();
  readonly nodeLeases = listed<Lease>();
  readonly templates = listed<UntypedObject>();
  readonly requests = listed<UntypedObject>();
  /** By the name of their Cluster; one that is not here has no kubeconfig. */
  readonly workloads = new Map<string, FoundNodes>();
  readonly kinds = new Map<string, FoundKind>();
  readonly #version: ClusterApiVersion;
  readonly #listeners = new Set<() => void>();
  #reached: ReadonlySet<string> = new Set();

  readonly requestKind: WatchedKind = { resource: resourceOf(REQUEST_KIND), lister: this.requests };

  constructor(version: ClusterApiVersion = 'v1beta2') {
    this.#version = version;
    this.kinds.set(kindKey(TEMPLATE_REF.apiVersion, TEMPLATE_REF.kind), { resource: resourceOf(TEMPLATE_REF.kind), lister: this.templates });
    this.kinds.set(kindKey(TEMPLATE_REF.apiVersion, REQUEST_KIND), this.requestKind);
  }

  get dependencies(): HealthCheckDependencies {
    const never = (): Promise<never> => new Promise(quiet);
    const cluster = { get: never, list: never, create: never, mergePatch: never, remove: never } as unknown as Cluster;
    const onChange = (listener: () => void): (() => void) => {
      this.#listeners.add(listener);
      return () => void this.#listeners.delete(listener);
    };
    return {
      ...{ clock: this.clock, cluster, recorder: { event: quiet }, log: QUIET, metrics: NO_METRICS.healthChecks },
      leadership: { isLeading: true, mayBegin: () => true },
      checks: { resource: machineHealthChecks(CLUSTER_API_GROUP, this.#version), lister: this.checks },
      machines: { resource: clusterMachines(this.#version), lister: this.machines },
      clusters: { resource: apiClusters(this.#version), lister: this.clusters },
      nodes: this.nodes,
      fences: this.fences,
      nodeLeases: this.nodeLeases,
      kinds: { want: quiet, of: (kind) => this.kinds.get(kind) ?? 'absent', onChange },
      workloads: {
        want: (clusters) => {
          this.#reached = clusters;
        },
        of: (cluster) => (this.#reached.has(cluster) ? (this.workloads.get(cluster) ?? 'no-kubeconfig') : 'unreachable'),
        problems: () => [],
        whyNot: (cluster) => (this.workloads.get(cluster) === 'unreachable' ? 'its kubeconfig is wrong' : undefined),
        onChange,
      },
      options: { enforce: true, hasBothLists: true, maxInFlight: 2 },
    };
  }

  /** Kinds or kubeconfigs have come or gone. */
  tell(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Follows all of it from now on. */
  follow(): { cache: HealthCheckCache; changes: Changes } {
    const cache = new HealthCheckCache(this.dependencies);
    const changes = new Changes(this.dependencies, cache, quiet);
    changes.start();
    return { cache, changes };
  }
}
