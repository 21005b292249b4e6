import { CANDIDATES_LEASE } from '../../src/controllers/fence/handover/candidates.ts';
import { PreservationController } from '../../src/controllers/preservation/controller.ts';
import type { MachineSide, PreservationOptions } from '../../src/controllers/preservation/dependencies.ts';
import type { PoolSettings } from '../../src/controllers/preservation/snapshot.ts';
import { Notices, noticesIn } from '../../src/controllers/self-check/notices.ts';
import { fenceName } from '../../src/domain/node-fence.ts';
import { planOf } from '../../src/domain/testing/model.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { install } from '../../src/drill/run/installation.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { TransportError } from '../../src/ports/api-transport.ts';
import type { ApiRequest, ApiTransport } from '../../src/ports/api-transport.ts';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import { MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES } from '../../src/ports/machines.ts';
import type { Machine } from '../../src/ports/machines.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { ProofRead } from '../../src/ports/proof-reads.ts';
import type { KubeObject, Node, Pod } from '../../src/ports/objects.ts';
import { LEASES, NODE_FENCES, NODES, PODS } from '../../src/ports/resources.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { NOW_MS } from './world.ts';

export const NAMESPACE = 'shoot';
export const DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};
const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const NOTICES = { namespace: 'default', lease: CANDIDATES_LEASE };
const DAEMON_SETS: Resource = { group: 'apps', version: 'v1', kind: 'DaemonSet', plural: 'daemonsets', namespaced: true };
export const BUDGETS: Resource<KubeObject & { spec: object }> = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  namespaced: true,
};

/** One API server in this process; `asked` counts what the controller writes. */
export class Site {
  readonly server: ApiServer;
  readonly operator: Cluster;
  transport: ApiTransport;

  constructor(clock: ManualClock) {
    const users = [{ name: 'admin', groups: ['system:masters'] }];
    this.server = new ApiServer({ clock, random: testRandom(), users, authorization: 'rbac' });
    this.transport = inProcessTransport(this.server, 'admin');
    this.operator = new ApiClient({ transport: this.transport });
  }
}

export interface Replica {
  controller: PreservationController;
  /** `POST path`, in order. */
  writes: string[];
  /** What was sent with each, as JSON. */
  bodies: string[];
  events: string[];
  problems: string[];
  leadership: { isLeading: boolean; mayBegin: () => boolean };
  /** What becomes of a write: done, refused before it is done, or done and never answered. */
  fate: (write: string, number: number) => 'done' | 'lost' | 'unanswered';
  /** A write is on its way, and has not left yet. */
  onTheWay?: () => void;
  /** The watches, or those of what ends so alone, bring nothing from now on. */
  deafen: (path?: string) => void;
  close: () => Promise<void>;
}

export interface Making {
  phase?: string;
  ready?: 'True' | 'False' | 'Unknown';
  /** Annotations of the Machine. */
  machine?: Record<string, string>;
  node?: Record<string, string>;
  set?: string;
  timeout?: string;
}

/** Clusters of Nodes and Machines with preservation's controller on the same wire as in production, on a clock that tests move. */
export class ShellWorld {
  readonly clock = new ManualClock({ wallMs: NOW_MS });
  readonly nodes: Site;
  readonly machines: Site;
  pools: ReadonlyMap<string, PoolSettings> = new Map();
  /** What the fence controller finds when it reads a device once more. */
  device: () => ProofRead = () => ({ atMs: this.clock.monotonicMs() });
  readonly #replicas: Replica[] = [];

  private constructor(isSplit: boolean) {
    this.nodes = new Site(this.clock);
    this.machines = isSplit ? new Site(this.clock) : this.nodes;
  }

  static async create({ isSplit = false } = {}): Promise<ShellWorld> {
    const world = new ShellWorld(isSplit);
    await install({ transport: world.nodes.transport, cluster: world.nodes.operator });
    await world.machines.operator.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    await sendShipped(world.machines.transport, ['machine-crd']);
    return world;
  }

  async addNode(name: string, { ready = 'True', node: annotations = {} }: Making = {}): Promise<void> {
    const { operator } = this.nodes;
    await operator.create(NODES, { metadata: { name, annotations }, spec: {}, status: {} });
    await this.ready(name, ready);
  }

  /** With its Node, `node-of-<name>`. */
  async add(name: string, making: Making = {}): Promise<void> {
    await this.addNode(`node-of-${name}`, making);
    const { operator } = this.machines;
    const owner = making.set === undefined ? [] : [await this.#ownerOf(making.set)];
    await operator.create(MACHINES, {
      metadata: { name, namespace: NAMESPACE, annotations: making.machine ?? {}, labels: { node: `node-of-${name}` }, ownerReferences: owner },
      spec: { machinePreserveTimeout: making.timeout ?? '10m' },
    });
    await this.phase(name, making.phase ?? 'Running');
  }

  async #ownerOf(name: string): Promise<NonNullable<KubeObject['metadata']['ownerReferences']>[number]> {
    const { apiVersion, uid } = await this.#set(name);
    return { apiVersion, kind: 'MachineSet', name, uid, controller: true };
  }

  async #set(name: string): Promise<{ apiVersion: string; uid: string }> {
    const { operator } = this.machines;
    const standing = await operator.get(MACHINE_SETS, name, NAMESPACE);
    const set = standing ?? (await operator.create(MACHINE_SETS, { metadata: { name, namespace: NAMESPACE }, spec: {} }));
    return { apiVersion: 'machine.sapcloud.io/v1alpha1', uid: set.metadata.uid ?? '' };
  }

  async phase(name: string, phase: string): Promise<void> {
    const currentStatus = { phase, lastUpdateTime: this.now() };
    await this.machines.operator.mergePatch(MACHINES, name, { status: { currentStatus } }, { namespace: NAMESPACE, subresource: 'status' });
  }

  async addPod(name: string, node: string, { isDaemon = false, isBudgeted = false } = {}): Promise<void> {
    const ownerReferences = isDaemon ? [await this.#daemonSet()] : [];
    const metadata = { name, namespace: 'default', labels: { app: name }, ownerReferences };
    const containers = [{ name: 'main', image: 'none' }];
    const { operator } = this.nodes;
    await operator.create(PODS, { metadata, spec: { nodeName: node, containers } } as unknown as Pod);
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await operator.mergePatch(PODS, name, { status }, { namespace: 'default', subresource: 'status' });
    if (isBudgeted) {
      const spec = { minAvailable: 1, selector: { matchLabels: { app: name } } };
      await operator.create(BUDGETS, { metadata: { name, namespace: 'default' }, spec });
    }
  }

  async #daemonSet(): Promise<NonNullable<KubeObject['metadata']['ownerReferences']>[number]> {
    const template = { metadata: { labels: { app: 'daemon' } }, spec: { containers: [{ name: 'main', image: 'none' }] } };
    const spec = { selector: { matchLabels: { app: 'daemon' } }, template };
    const { metadata } = await this.nodes.operator.create(DAEMON_SETS, { metadata: { name: 'daemon', namespace: 'default' }, spec } as KubeObject);
    return { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'daemon', uid: metadata.uid ?? '', controller: true };
  }

  now(): string {
    return new Date(this.clock.wallMs()).toISOString().replace(/\.\d{3}Z$/, 'Z');
  }

  async ready(name: string, status: 'True' | 'False' | 'Unknown'): Promise<void> {
    const standing = await this.node(name);
    const others = standing.status.conditions?.filter(({ type }) => type !== 'Ready') ?? [];
    const conditions = [...others, { type: 'Ready', status, lastTransitionTime: this.now() }];
    await this.nodes.operator.mergePatch(NODES, name, { status: { conditions, nodeInfo: { bootID: 'boot-1' } } }, { subresource: 'status' });
  }

  async annotateNode(name: string, annotations: Record<string, string | null>): Promise<void> {
    await this.nodes.operator.mergePatch(NODES, name, { metadata: { annotations } });
  }

  async annotateMachine(name: string, annotations: Record<string, string | null>): Promise<void> {
    await this.machines.operator.mergePatch(MACHINES, name, { metadata: { annotations } }, { namespace: NAMESPACE });
  }

  /** What `nodefence status` reads of the replicas' own problems. */
  async told(): Promise<string[]> {
    return noticesIn(await this.nodes.operator.get(LEASES, NOTICES.lease, NOTICES.namespace), this.clock.wallMs());
  }

  async node(name: string): Promise<Node> {
    const found = await this.nodes.operator.get(NODES, name);
    if (found === undefined) throw new Error(`no node ${name}`);
    return found;
  }

  async machine(name: string): Promise<Machine | undefined> {
    return this.machines.operator.get(MACHINES, name, NAMESPACE);
  }

  async fence(node: string): Promise<NodeFence | undefined> {
    return this.nodes.operator.get(NODE_FENCES, fenceName(node));
  }

  /** What a fence that was asked for comes to: the node is proven off, or (`open`) it is not over yet. */
  async fenced(node: string, state: 'final' | 'running' = 'final', kind: 'power-off' | 'none' = 'power-off'): Promise<void> {
    const fence =
      (await this.fence(node)) ?? (await this.nodes.operator.create(NODE_FENCES, { metadata: { name: fenceName(node) }, spec: { node } }));
    const proof = { kind: 'power-off', grade: 'read-back', source: 'job', detail: 'off', observedAt: this.now(), bootID: 'boot-1' } as const;
    await this.ready(node, 'Unknown');
    await this.nodes.operator.replaceStatus(NODE_FENCES, {
      ...fence,
      status: {
        state,
        step: 'power-management',
        level: 1,
        incident: 1,
        epoch: 1,
        retries: 0,
        restarts: 0,
        frozen: { nodeUID: 'n', plan: planOf() },
        trigger: { kind: 'remediation', since: this.now(), ...(fence.spec.requestedBy !== undefined && { requestUID: fence.spec.requestedBy.uid }) },
        jobs: [],
        journal: [],
        evidence: kind === 'none' ? [] : [proof],
        timeline: {},
        conditions: [],
        history: [],
      },
    });
  }

  /** A controller of its own with its own watches, as another process would be. */
  start(more: Partial<PreservationOptions> & { isLeading?: boolean; hasMachines?: boolean; fate?: Replica['fate'] } = {}): Replica {
    const { isLeading = true, hasMachines = true, fate = () => 'done', ...options } = more;
    const writes: string[] = [];
    const bodies: string[] = [];
    const events: string[] = [];
    const problems: string[] = [];
    const replica = { fate } as Replica;
    const wires = new Map<Site, Wire>();
    const wireOf = (site: Site): Wire => {
      const wire =
        wires.get(site) ??
        new Wire(site.transport, (write, { body, beforeSend }) => {
          replica.onTheWay?.();
          beforeSend?.();
          writes.push(write);
          bodies.push(JSON.stringify(body));
          return replica.fate(write, writes.length);
        });
      wires.set(site, wire);
      return wire;
    };
    const reflectors: { start: () => void; close: () => void }[] = [];
    const watch = <T extends KubeObject>(site: Site, resource: Resource<T>, indexes = {}) => {
      const base = { transport: wireOf(site), clock: this.clock, random: testRandom(), logger: QUIET, metrics: NO_METRICS.watch };
      const reflector = new Reflector<T>({ ...base, resource, indexes });
      reflectors.push(reflector);
      return reflector.lister;
    };
    const recorder = {
      event: (about: KubeObject, type: string, reason: string): void =>
        void events.push(`${about.kind ?? ''} ${about.metadata.name} ${type} ${reason}`),
    };
    const side = (site: Site) => ({ cluster: new ApiClient({ transport: wireOf(site) }), recorder });
    const byNode = { node: (pod: Pod) => (pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName]) };
    const listers = {
      nodes: watch(this.nodes, NODES),
      fences: watch(this.nodes, NODE_FENCES),
      leases: watch(this.nodes, LEASES),
      pods: watch(this.nodes, PODS, byNode),
    };
    const machines: MachineSide = {
      ...side(this.machines),
      listers: {
        machines: watch(this.machines, MACHINES),
        machineSets: watch(this.machines, MACHINE_SETS),
        machineDeployments: watch(this.machines, MACHINE_DEPLOYMENTS),
      },
    };
    const { operator: cluster } = this.nodes;
    const notices = new Notices({ cluster, clock: this.clock, log: QUIET, ...NOTICES, id: String(this.#replicas.length) });
    const leadership = { isLeading, mayBegin: () => leadership.isLeading };
    const controller = new PreservationController({
      clock: this.clock,
      nodes: { ...side(this.nodes), listers },
      ...(hasMachines && { machines }),
      pools: () => ({ pools: this.pools, problems: [] }),
      leadership,
      proofReader: { readAnew: () => Promise.resolve(this.device()) },
      tellProblems: (words) => notices.say('preservation', words),
      log: { ...QUIET, warn: (message, fields) => void problems.push(`${message}: ${JSON.stringify(fields?.['problem'] ?? fields?.['object'])}`) },
      metrics: NO_METRICS.preservation,
      options: { mode: 'own', hasExpiryField: true, spelling: 'auto-preserve', requestsWhenFailed: true, enforce: true, ...options },
    });
    for (const reflector of reflectors) reflector.start();
    controller.start();
    Object.assign(replica, {
      controller,
      writes,
      bodies,
      events,
      problems,
      leadership,
      deafen: (path = '') => {
        for (const wire of wires.values()) wire.deafTo = path;
      },
      close: async () => {
        const closing = controller.close();
        await this.clock.advance(1);
        await closing;
        for (const reflector of reflectors) reflector.close();
        await notices.close();
      },
    });
    this.#replicas.push(replica);
    return replica;
  }

  /** Lets time pass; kubelets of Ready nodes end pods that were asked to go. */
  async pass(ms: number, stepMs = Math.min(500, ms)): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      await this.clock.advance(Math.min(stepMs, left));
      await this.#endPods();
      this.nodes.server.tick();
      if (this.machines !== this.nodes) this.machines.server.tick();
    }
  }

  async #endPods(): Promise<void> {
    for (const { metadata } of await this.nodes.operator.list(PODS)) {
      if (metadata.deletionTimestamp === undefined) continue;
      const { name, namespace = 'default' } = metadata;
      await this.nodes.operator.remove(PODS, name, { namespace, gracePeriodSeconds: 0 });
    }
  }

  async end(): Promise<void> {
    for (const replica of this.#replicas) await replica.close();
  }
}

const quiet = (): void => undefined;
const QUIET = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** The way of one replica to an API server. */
class Wire implements ApiTransport {
  deafTo: string | undefined;
  readonly #transport: ApiTransport;
  readonly #fateOf: (write: string, request: ApiRequest) => 'done' | 'lost' | 'unanswered';

  constructor(transport: ApiTransport, fateOf: (write: string, request: ApiRequest) => 'done' | 'lost' | 'unanswered') {
    this.#transport = transport;
    this.#fateOf = fateOf;
  }

  async request(request: ApiRequest): ReturnType<ApiTransport['request']> {
    if (request.method === 'GET') return this.#transport.request(request);
    const fate = this.#fateOf(`${request.method} ${request.path}`, request);
    if (fate === 'lost') throw new TransportError('unreachable', 'no way there');
    const response = await this.#transport.request(request);
    if (fate === 'unanswered') throw new TransportError('timeout', 'no answer');
    return response;
  }

  watch(...[request, sink]: Parameters<ApiTransport['watch']>): () => void {
    const isDeaf = (): boolean => this.deafTo !== undefined && request.path.endsWith(this.deafTo);
    if (isDeaf()) return this.#transport.watch(request, { onOpen: quiet, onEvent: quiet, onEnd: quiet });
    return this.#transport.watch(request, {
      onOpen: () => {
        if (!isDeaf()) sink.onOpen();
      },
      onEvent: (event) => {
        if (!isDeaf()) sink.onEvent(event);
      },
      onEnd: (error) => {
        sink.onEnd(error);
      },
    });
  }
}
