import { standardRegistry } from '../../agents/registry.ts';
import { install } from '../../src/drill/run/installation.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { BY_NODE } from '../../src/controllers/fence/dependencies.ts';
import type { RemedyText } from '../../src/config/remedies.ts';
import { setUpProblems } from '../../src/manager/problems/setup.ts';
import { NAMESPACE } from '../../src/manifests/access.ts';
import type { ApiRequest, ApiTransport } from '../../src/ports/api-transport.ts';
import type { Cluster, Lister, Resource } from '../../src/ports/cluster.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { ConfigMap, KubeObject, Pod } from '../../src/ports/objects.ts';
import { CONFIG_MAPS, EVENTS, NODE_FENCE_REPORTS, NODE_FENCES, NODES, PODS } from '../../src/ports/resources.ts';
import type { NodeFence, NodeFenceReport } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';

const CONTROLLER = 'system:serviceaccount:nodefence-system:nodefence-controller';
const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
export const EPOCH_MS = Date.parse('2026-03-01T10:00:00Z');
const quiet = (): void => undefined;

export const ALARMS = `apiVersion: node-remedy/v1alpha
kind: Configuration
alarms:
  - { reason: KernelOops, count: 3, window: 1h }
  - { reason: KernelDeadlock, count: 2, window: 1h }
  - { reason: NodeFenced, count: 2, window: 1h }
`;

export interface ReplicaOfProblems {
  problems: NonNullable<ReturnType<typeof setUpProblems>>;
  leadership: { isLeading: boolean; mayBegin: () => boolean };
  /** `Warning ProblemAlarmRaised worker-1: ...`. */
  events: string[];
  /** Of reports, by the node. */
  writes: string[];
  counted: Map<string, number>;
  alarms: ReadonlyMap<string, { node: number; workload: number }>;
  said: readonly string[];
  /** Each value that `nodefence_controller_problems` has had. */
  shown: number[];
  close: () => Promise<void>;
}

/** A cluster in memory, and replicas of the controller with the rights that ship. The test plays node-problem-detector. */
export class ProblemWorld {
  readonly clock = new ManualClock({ wallMs: EPOCH_MS });
  readonly operator: Cluster;
  readonly #controllers: ApiTransport;
  readonly #replicas: ReplicaOfProblems[] = [];
  #events = 0;

  private constructor(operators: ApiTransport, controllers: ApiTransport) {
    this.operator = new ApiClient({ transport: operators });
    this.#controllers = controllers;
  }

  static async create({ hasRights = true, alarms = ALARMS } = {}): Promise<ProblemWorld> {
    const clock = new ManualClock({ wallMs: EPOCH_MS });
    const users = [
      { name: 'admin', groups: ['system:masters'] },
      { name: CONTROLLER, groups: ['system:serviceaccounts', 'system:serviceaccounts:nodefence-system', 'system:authenticated'] },
    ];
    const server = new ApiServer({ clock, random: testRandom(), users, authorization: 'rbac' });
    const admin = inProcessTransport(server, 'admin');
    const world = new ProblemWorld(admin, inProcessTransport(server, CONTROLLER));
    Object.assign(world, { clock });
    await install({ transport: admin, cluster: world.operator });
    if (hasRights) await sendShipped(admin, ['remedies']);
    await world.operator.create(NAMESPACES, { metadata: { name: 'shop' } });
    await world.configure(alarms);
    for (const name of ['worker-1', 'worker-2', 'worker-3']) await world.addNode(name);
    return world;
  }

  async configure(text: string): Promise<void> {
    const known = await this.operator.get(CONFIG_MAPS, 'fence-remedies', NAMESPACE);
    const config: ConfigMap = { metadata: { name: 'fence-remedies', namespace: NAMESPACE }, data: { 'a.yaml': text } };
    if (known === undefined) await this.operator.create(CONFIG_MAPS, config);
    else await this.operator.mergePatch(CONFIG_MAPS, 'fence-remedies', { data: config.data }, { namespace: NAMESPACE });
  }

  async addNode(name: string): Promise<void> {
    await this.operator.create(NODES, { metadata: { name, labels: { type: 'compute' } }, spec: {}, status: {} });
  }

  /** A pod of Deployment shop/web. */
  async addPod(node: string, name = `web-5d9c7b-${node}`): Promise<void> {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5d9c7b', uid: 'rs', controller: true };
    const metadata = { name, namespace: 'shop', labels: { 'pod-template-hash': '5d9c7b' }, ownerReferences: [owner] };
    const spec = { nodeName: node, containers: [{ name: 'c', image: 'i' }] } as unknown as Pod['spec'];
    await this.operator.create(PODS, { metadata, spec });
  }

  /** As node-problem-detector writes it. Returns its name, by which it is written again. */
  async event(
    node: string,
    { reason = 'KernelOops', message = 'BUG: unable to handle kernel NULL pointer dereference', type = 'Warning', lateByMs = 0 } = {},
  ): Promise<string> {
    this.#events += 1;
    const name = `${node}.${this.#events.toString(16).padStart(16, '0')}`;
    const happened = this.now(lateByMs);
    await this.operator.create(EVENTS, {
      metadata: { name, namespace: 'default' },
      involvedObject: { kind: 'Node', name: node, uid: node },
      ...{ reason, message, type, count: 1, firstTimestamp: happened, lastTimestamp: happened },
      source: { component: 'kernel-monitor', host: node },
    } as unknown as KubeObject);
    return name;
  }

  async again(name: string, count: number): Promise<void> {
    await this.operator.mergePatch(EVENTS, name, { count, lastTimestamp: this.now() }, { namespace: 'default' });
  }

  report(node: string): Promise<NodeFenceReport | undefined> {
    return this.operator.get(NODE_FENCE_REPORTS, node);
  }

  /** How often each reason stands in the report, by whom it is about. */
  async counts(node: string): Promise<Record<string, number>> {
    const counted = (await this.report(node))?.status?.problemCounts?.counted ?? [];
    return Object.fromEntries(counted.map(({ reason, workload = 'node', times }) => [`${workload}: ${reason}`, times.length]));
  }

  async start({
    isLeading = true,
    remedyFiles,
  }: { isLeading?: boolean; remedyFiles?: () => readonly RemedyText[] } = {}): Promise<ReplicaOfProblems> {
    const leadership = { isLeading, mayBegin: () => leadership.isLeading };
    const replica = {
      leadership,
      events: [],
      writes: [],
      counted: new Map(),
      alarms: new Map(),
      said: [],
      shown: [],
    } as unknown as ReplicaOfProblems;
    const transport = this.#wire(replica);
    const common = { transport, clock: this.clock, random: testRandom(), logger: { debug: quiet, info: quiet, error: quiet, warn: quiet } };
    const watches: Reflector<KubeObject>[] = [];
    const watch = <T extends KubeObject>(resource: Resource<T>, more: object = {}): Lister<T> => {
      const reflector = new Reflector<T>({ ...common, resource, metrics: NO_METRICS.watch, ...more });
      watches.push(reflector as unknown as Reflector<KubeObject>);
      return reflector.lister;
    };
    const listers = {
      nodes: watch(NODES),
      reports: watch<NodeFenceReport>(NODE_FENCE_REPORTS),
      fences: watch<NodeFence>(NODE_FENCES),
      pods: watch(PODS, { indexes: { [BY_NODE]: (pod: Pod) => (pod.spec.nodeName === undefined ? [] : [pod.spec.nodeName]) } }),
    };
    const configMaps = watch(CONFIG_MAPS, { namespace: NAMESPACE });
    const problems = setUpProblems(
      {
        ...common,
        registry: standardRegistry(),
        ...(remedyFiles !== undefined && { remedyFiles }),
        metrics: { ...NO_METRICS, problems: this.#metrics(replica) },
        recorder: { event: (about, type, reason, message) => void replica.events.push(`${type} ${reason} ${about.metadata.name}: ${message}`) },
        planner: () => {
          throw new Error('nothing is planned here');
        },
        exit: quiet,
      },
      {
        ...{ mode: 'observe', ownNode: undefined, outOfService: true, staleAfterMs: 60_000, namespace: NAMESPACE, identity: 'here', concurrency: 1 },
        ...{ syncDeadlineMs: 60_000, remedies: true },
      },
      { cluster: new ApiClient({ transport }), listers, configMaps, leadership, say: (_topic, words) => void (replica.said = words) },
    );
    if (problems === undefined) throw new Error('it is switched off');
    for (const each of watches) each.start();
    await this.pass(1_000);
    problems.start();
    await this.pass(1_000);
    const close = async (): Promise<void> => {
      for (const each of watches) each.close();
      const closing = problems.close();
      await this.clock.advance(1);
      await closing;
    };
    Object.assign(replica, { problems, close });
    this.#replicas.push(replica);
    return replica;
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) await this.clock.advance(Math.min(1_000, left));
  }

  async end(): Promise<void> {
    for (const replica of this.#replicas) await replica.close();
  }

  now(agoMs = 0): string {
    return new Date(this.clock.wallMs() - agoMs).toISOString().replace(/\.\d{3}Z$/, 'Z');
  }

  #metrics(replica: ReplicaOfProblems): (typeof NO_METRICS)['problems'] {
    return {
      ...NO_METRICS.problems,
      counted: (reason, times) => void replica.counted.set(reason, (replica.counted.get(reason) ?? 0) + times),
      alarms: (counts) => void (replica.alarms = counts),
      problems: (count) => void replica.shown.push(count),
    };
  }

  #wire(replica: ReplicaOfProblems): ApiTransport {
    const controllers = this.#controllers;
    return {
      request: (request: ApiRequest) => {
        request.beforeSend?.();
        if (request.method === 'PUT') replica.writes.push(request.path.split('/').at(-2) ?? '');
        return controllers.request(request);
      },
      watch: (request, sink) => controllers.watch(request, sink),
    };
  }
}
