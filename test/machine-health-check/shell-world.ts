import { MachineHealthCheckController } from '../../src/controllers/machine-health-check/controller.ts';
import type {
  FoundKind,
  FoundNodes,
  RemediationKinds,
  WatchedKind,
  WorkloadClusters,
} from '../../src/controllers/machine-health-check/dependencies.ts';
import { MACHINE_INDEXES } from '../../src/controllers/machine-health-check/indexes.ts';
import { kindKey } from '../../src/controllers/machine-health-check/snapshot.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { install } from '../../src/drill/run/installation.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { ApiClient } from '../../src/kube/client.ts';
import type { Indexers } from '../../src/kube/lister.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { TransportError } from '../../src/ports/api-transport.ts';
import type { ApiRequest, ApiTransport } from '../../src/ports/api-transport.ts';
import type { Cluster, Lister, Resource } from '../../src/ports/cluster.ts';
import { apiClusters, CLUSTER_API_GROUP, clusterMachines, machineHealthChecks } from '../../src/ports/cluster-api.ts';
import type { UntypedObject } from '../../src/ports/cluster-api.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { KubeObject, Lease, Node } from '../../src/ports/objects.ts';
import { LEASES, NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { CLUSTER_API_DEFINITIONS, definitionOf, DEFINITIONS, REQUESTS, TEMPLATES } from './definitions.ts';
import { checkObject, CLUSTER, clusterObject, machineObject, NAMESPACE, NOW_MS, TEMPLATE_REF, templateObject } from './objects.ts';
import type { MachineParts } from './objects.ts';

export const MACHINES: Resource<UntypedObject> = clusterMachines('v1beta2');
export const CLUSTERS: Resource<UntypedObject> = apiClusters('v1beta2');
export const CHECKS = machineHealthChecks(CLUSTER_API_GROUP, 'v1beta2');
/** Where medik8s keeps node leases. */
export const LEASE_NAMESPACE = 'medik8s-leases';
const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const HOME = `${NAMESPACE}/${CLUSTER}`;

/** What becomes of a write: done, refused before it is done, or done and never answered. */
type Fate = 'done' | 'lost' | 'unanswered' | 'denied';

export interface Replica {
  controller: MachineHealthCheckController;
  /** `POST path`, in order. */
  writes: string[];
  /** `Machine m1 Normal MachineMarkedUnhealthy`. */
  events: string[];
  problems: string[];
  leadership: { isLeading: boolean; mayBegin: () => boolean };
  fate: (write: string, number: number) => Fate;
  /** A write is on its way, and has not left yet. */
  onTheWay?: () => void;
  /** Watches bring nothing from now on where this says so. */
  isDeaf: (path: string) => boolean;
  close: () => Promise<void>;
}

interface Beginning {
  isLeading?: boolean;
  enforce?: boolean;
  fate?: Replica['fate'];
  workloads?: WorkloadClusters;
  /** false: what was there before it began was not heard by it. */
  hasWatchedForLong?: boolean;
}

/** An API server in this process with the controller on the same wire as in production, on a clock that tests move. */
export class ShellWorld {
  readonly clock = new ManualClock({ wallMs: NOW_MS });
  readonly server: ApiServer;
  readonly operator: Cluster;
  transport: ApiTransport;
  readonly #replicas: Replica[] = [];
  /** Nodes whose machines are preserved, and why. */
  readonly preserved = new Map<string, string>();

  private constructor() {
    const users = [{ name: 'admin', groups: ['system:masters'] }];
    this.server = new ApiServer({ clock: this.clock, random: testRandom(), users, authorization: 'rbac' });
    this.transport = inProcessTransport(this.server, 'admin');
    this.operator = new ApiClient({ transport: this.transport });
  }

  static async create(): Promise<ShellWorld> {
    const world = new ShellWorld();
    await install({ transport: world.transport, cluster: world.operator });
    await sendShipped(world.transport, ['machine-health-check-crd']);
    const definitions = [...CLUSTER_API_DEFINITIONS, definitionOf(TEMPLATES), definitionOf(REQUESTS)];
    for (const definition of definitions) await world.operator.create(DEFINITIONS, definition);
    await world.create(CLUSTERS, clusterObject());
    return world;
  }

  /** With its status. */
  async create(resource: Resource<UntypedObject>, object: UntypedObject): Promise<UntypedObject> {
    const { uid: _uid, resourceVersion: _version, ...metadata } = object.metadata;
    const created = await this.operator.create(resource, { ...object, metadata });
    if (object.status === undefined) return created;
    const place = { namespace: NAMESPACE, subresource: 'status' as const };
    return this.operator.mergePatch(resource, metadata.name, { status: object.status }, place);
  }

  /** With its Node, `node-of-<name>`, Ready unless it is said for how many seconds it is not. */
  async add(name: string, parts: MachineParts & { unreadySeconds?: number } = {}): Promise<void> {
    const { unreadySeconds, ...machine } = parts;
    await this.operator.create(NODES, { metadata: { name: `node-of-${name}` }, spec: { providerID: `test:///${name}` }, status: {} });
    await this.ready(name, unreadySeconds === undefined ? 'True' : 'Unknown', unreadySeconds ?? 3_600);
    const object = machineObject(name, machine);
    await this.create(MACHINES, { ...object, spec: { ...(object.spec as object), providerID: `test:///${name}` } });
  }

  async ready(name: string, status: 'True' | 'Unknown', seconds = 0): Promise<void> {
    const lastTransitionTime = new Date(this.clock.wallMs() - seconds * 1_000).toISOString().replace(/\.\d{3}Z$/, 'Z');
    const conditions = [{ type: 'Ready', status, reason: 'Kubelet', lastTransitionTime }];
    await this.operator.mergePatch(NODES, `node-of-${name}`, { status: { conditions } }, { subresource: 'status' });
  }

  /** Unhealthy after five minutes without a word of the kubelet. */
  async check(name = 'check', { template = false, more = {} }: { template?: boolean; more?: object } = {}): Promise<void> {
    const checks = { unhealthyNodeConditions: [{ type: 'Ready', status: 'Unknown', timeoutSeconds: 300 }] };
    const remediation = { ...(template && { templateRef: TEMPLATE_REF }), ...more };
    await this.create(CHECKS, checkObject(name, { checks, ...(Object.keys(remediation).length > 0 && { remediation }) }));
  }

  async template(): Promise<void> {
    await this.create(TEMPLATES, templateObject());
  }

  /** Somebody has the node of this machine, by the lease of medik8s. */
  async lease(machine: string, holderIdentity: string, leaseDurationSeconds = 300): Promise<void> {
    const time = new Date(this.clock.wallMs()).toISOString().replace('Z', '000Z');
    const spec = { holderIdentity, leaseDurationSeconds, acquireTime: time, renewTime: time, leaseTransitions: 0 };
    if ((await this.operator.get(NAMESPACES, LEASE_NAMESPACE)) === undefined)
      await this.operator.create(NAMESPACES, { metadata: { name: LEASE_NAMESPACE } });
    await this.operator.create<Lease>(LEASES, { metadata: { name: `node-node-of-${machine}`, namespace: LEASE_NAMESPACE }, spec });
  }

  machine(name: string): Promise<UntypedObject | undefined> {
    return this.operator.get(MACHINES, name, NAMESPACE);
  }

  request(name: string): Promise<UntypedObject | undefined> {
    return this.operator.get(REQUESTS, name, NAMESPACE);
  }

  async annotate(resource: Resource, name: string, annotations: Record<string, string | null>): Promise<void> {
    await this.operator.mergePatch(resource, name, { metadata: { annotations } }, { namespace: NAMESPACE });
  }

  /** `HealthCheckSucceeded=False/NodeDeleted` of both lists, each condition once. */
  async conditions(resource: Resource<UntypedObject>, name: string): Promise<string[]> {
    const object = await this.operator.get(resource, name, NAMESPACE);
    const { conditions = [] } = (object?.status ?? {}) as { conditions?: { type: string; status: string; reason?: string }[] };
    return conditions.map(({ type, status, reason = '' }) => `${type}=${status}/${reason}`);
  }

  /** A controller of its own with its own watches, as another process would be. */
  start({ isLeading = true, enforce = true, fate = () => 'done', workloads = NO_WORKLOADS, hasWatchedForLong = true }: Beginning = {}): Replica {
    const replica = { fate, isDeaf: () => false, writes: [], events: [], problems: [] } as unknown as Replica;
    const wire = wireOf(this.transport, replica);
    const closing: (() => void)[] = [];
    const watch = <T extends KubeObject>(resource: Resource<T>, namespace?: string, indexes: Indexers<T> = {}): Lister<T> => {
      const base = { transport: wire, clock: this.clock, random: testRandom(), logger: QUIET, metrics: NO_METRICS.watch };
      const reflector = new Reflector<T>({ ...base, resource, indexes, ...(namespace !== undefined && { namespace }) });
      closing.push(() => {
        reflector.close();
      });
      reflector.start();
      return hasWatchedForLong ? longFresh(reflector.lister) : reflector.lister;
    };
    const kindOf = (resource: Resource<UntypedObject>): WatchedKind => ({ resource, lister: watch(resource) });
    const leadership = { isLeading, mayBegin: () => leadership.isLeading };
    const event = ({ kind = '', metadata }: KubeObject, type: string, reason: string): void =>
      void replica.events.push(`${kind} ${metadata.name} ${type} ${reason}`);
    const controller = new MachineHealthCheckController({
      clock: this.clock,
      cluster: new ApiClient({ transport: wire }),
      recorder: { event },
      log: {
        ...QUIET,
        warn: (message, fields) => void replica.problems.push(`${message}: ${JSON.stringify(fields?.['problem'] ?? fields?.['object'])}`),
      },
      metrics: NO_METRICS.healthChecks,
      leadership,
      checks: kindOf(CHECKS),
      machines: { resource: MACHINES, lister: watch(MACHINES, undefined, MACHINE_INDEXES) },
      clusters: kindOf(CLUSTERS),
      nodes: watch(NODES),
      fences: watch(NODE_FENCES),
      nodeLeases: watch(LEASES, LEASE_NAMESPACE),
      preservedBecause: (node) => this.preserved.get(node),
      kinds: new FixedKinds([TEMPLATES, REQUESTS], kindOf),
      workloads,
      options: { enforce, hasBothLists: true },
    });
    controller.start();
    const close = async (): Promise<void> => {
      const ended = controller.close();
      await this.clock.advance(1);
      await ended;
      for (const end of closing) end();
    };
    this.#replicas.push(Object.assign(replica, { controller, leadership, close }));
    return replica;
  }

  async pass(ms: number, stepMs = Math.min(500, ms)): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      await this.clock.advance(Math.min(stepMs, left));
      this.server.tick();
    }
  }

  async end(): Promise<void> {
    for (const replica of this.#replicas) await replica.close();
  }
}

/** Kinds that are served from the start; each is watched when it is first wanted. */
class FixedKinds implements RemediationKinds {
  readonly #served: ReadonlyMap<string, Resource<UntypedObject>>;
  readonly #watched = new Map<string, WatchedKind>();
  readonly #kindOf: (resource: Resource<UntypedObject>) => WatchedKind;

  constructor(resources: readonly Resource<UntypedObject>[], kindOf: (resource: Resource<UntypedObject>) => WatchedKind) {
    this.#served = new Map(resources.map((resource) => [kindKey(`${resource.group}/${resource.version}`, resource.kind), resource]));
    this.#kindOf = kindOf;
  }

  want(kinds: ReadonlySet<string>): void {
    for (const kind of kinds) {
      const resource = this.#served.get(kind);
      if (resource !== undefined && !this.#watched.has(kind)) this.#watched.set(kind, this.#kindOf(resource));
    }
  }

  of(kind: string): FoundKind {
    return this.#watched.get(kind) ?? (this.#served.has(kind) ? 'unknown' : 'absent');
  }

  onChange(): () => void {
    return quiet;
  }
}

/** Without a kubeconfig for any Cluster. */
export const NO_WORKLOADS: WorkloadClusters = {
  want: () => undefined,
  of: () => 'no-kubeconfig',
  problems: () => [],
  whyNot: () => undefined,
  onChange: () => () => undefined,
};

/** One workload cluster, whose Nodes a test shows and hides. */
export class FixedWorkload implements WorkloadClusters {
  found: FoundNodes = 'unreachable';
  readonly #listeners = new Set<() => void>();

  want(): void {
    return undefined;
  }

  of(cluster: string): FoundNodes {
    return cluster === HOME ? this.found : 'unreachable';
  }

  why: string | undefined;

  whyNot(): string | undefined {
    return this.found === 'unreachable' ? this.why : undefined;
  }

  problems(): readonly string[] {
    return this.found === 'unreachable' ? [`Nodes of Cluster ${HOME} can not be read`] : [];
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  show(found: FoundNodes): void {
    this.found = found;
    for (const listener of this.#listeners) listener();
  }
}

/** A cluster of Nodes and nothing else, on the clock of the world. */
export async function workloadOf(
  clock: ManualClock,
  names: readonly string[],
): Promise<{ site: Cluster; nodes: Exclude<FoundNodes, string>; transport: ApiTransport }> {
  const users = [{ name: 'admin', groups: ['system:masters'] }];
  const server = new ApiServer({ clock, random: testRandom(7), users, authorization: 'rbac' });
  const transport = inProcessTransport(server, 'admin');
  const site = new ApiClient({ transport });
  for (const name of names) await site.create(NODES, { metadata: { name }, spec: {}, status: {} });
  const reflector = new Reflector<Node>({ transport, clock, random: testRandom(), logger: QUIET, metrics: NO_METRICS.watch, resource: NODES });
  reflector.start();
  return { site, nodes: { lister: reflector.lister, cluster: new ApiClient({ transport, isForeign: true }) }, transport };
}

/** Its first sight is not the end of an outage. */
function longFresh<T extends KubeObject>(lister: Lister<T>): Lister<T> {
  let firstMs: number | undefined;
  return new Proxy(lister, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value === 'function') return value.bind(target) as unknown;
      if (key !== 'resumedAtMs' || !Number.isFinite(value)) return value;
      firstMs ??= value as number;
      return value === firstMs ? -Infinity : value;
    },
  });
}

const quiet = (): void => undefined;
const QUIET = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** The way of one replica to the API server. */
function wireOf(transport: ApiTransport, replica: Replica): ApiTransport {
  return {
    async request(request: ApiRequest) {
      // What an account may do is asked for by a POST that writes nothing.
      if (request.method === 'GET' || request.path.startsWith('/apis/authorization.k8s.io/')) return transport.request(request);
      const write = `${request.method} ${request.path}`;
      replica.onTheWay?.();
      request.beforeSend?.();
      replica.writes.push(write);
      const fate = replica.fate(write, replica.writes.length);
      if (fate === 'lost') throw new TransportError('unreachable', 'no way there');
      if (fate === 'denied') {
        const message = `${write} is forbidden`;
        return { status: 403, headers: {}, body: { kind: 'Status', status: 'Failure', reason: 'Forbidden', message, code: 403 } };
      }
      const response = await transport.request(request);
      if (fate === 'unanswered') throw new TransportError('timeout', 'no answer');
      return response;
    },
    watch: (request, sink) =>
      transport.watch(request, {
        onOpen: () => {
          if (!replica.isDeaf(request.path)) sink.onOpen();
        },
        onEvent: (event) => {
          if (!replica.isDeaf(request.path)) sink.onEvent(event);
        },
        onEnd: (error) => {
          sink.onEnd(error);
        },
      }),
  };
}
