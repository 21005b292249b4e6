import { standardRegistry } from '../../agents/registry.ts';
import { install } from '../../src/drill/run/installation.ts';
import type { AttestedWell } from '../../src/domain/node-daemon/found-well.ts';
import { fenceName } from '../../src/domain/node-fence.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import type { RemedyStage } from '../../src/domain/policies/remedied.ts';
import type { ActiveHold } from '../../src/domain/snapshot.ts';
import type { Plan } from '../../src/domain/plan.ts';
import { planOf } from '../../src/domain/testing/model.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { setUpRemedies } from '../../src/manager/remedies/setup.ts';
import { TransportError } from '../../src/ports/api-transport.ts';
import type { ApiRequest, ApiTransport, WatchEvent } from '../../src/ports/api-transport.ts';
import { JOB_PODS, JOBS } from '../../src/ports/batch.ts';
import type { BatchJob } from '../../src/ports/batch.ts';
import type { Cluster, Lister, Resource } from '../../src/ports/cluster.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { KubeObject, Node, NodeCondition, Pod } from '../../src/ports/objects.ts';
import type { ProbeAnswer } from '../../src/ports/probes.ts';
import type { RemediesStatus } from '../../src/ports/remedies.ts';
import { CONFIG_MAPS, NODE_FENCE_REPORTS, NODE_FENCE_STOPS, NODE_FENCES, NODES, PODS } from '../../src/ports/resources.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';

export const NAMESPACE = 'nodefence-system';
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
const EPOCH_MS = Date.UTC(2026, 10, 25);
const CONTROLLER = `system:serviceaccount:${NAMESPACE}:nodefence-controller`;
const AT_ONCE_MAX = 1_000;
const quiet = (): void => undefined;

export interface Replica {
  /** `POST /apis/batch/v1/...`: what left for the API server. */
  writes: string[];
  /** `Warning RemedyFailed ...`, about Nodes. */
  events: string[];
  ended: string[];
  /** What `nodefence status` has of it. */
  problems: () => readonly string[];
  /** What `nodefence_controller_problems` shows of it. */
  shown: number | undefined;
  leadership: { isLeading: boolean; mayBegin: () => boolean };
  fate: (write: string) => 'done' | 'lost' | 'unanswered';
  /** Of its watches, the plurals of those that hear nothing any more, without an error. */
  deafTo: Set<string>;
  close: () => Promise<void>;
}

/** One API server with the shipped rights, and controllers of remedies on it; the test plays monitors, kubelets, the Job controller and the fence controller. */
export class RemedyShellWorld {
  readonly clock = new ManualClock({ wallMs: EPOCH_MS });
  readonly operator: Cluster;
  readonly trace: ApiEvent[] = [];
  readonly #transport: ApiTransport;
  readonly #controllers: ApiTransport;
  readonly #replicas: Replica[] = [];
  #sent = { atMs: 0, count: 0 };
  /** Storm policies that hold a remedy of this node. */
  storm: (node: string, stages: ReadonlyMap<string, RemedyStage>) => readonly ActiveHold[] = () => [];
  /** Nodes whose kubelet is silent, since when. */
  readonly silentSinceMs = new Map<string, number>();
  /** How every node is fenced. */
  plan: Plan = planOf();
  /** What daemons of nodes attest to have found well, by node. */
  readonly foundWell = new Map<string, AttestedWell>();
  /** Paths that no controller can read one by one. */
  readonly unreadable = new Set<string>();
  /** What every device reads. */
  device: Partial<ProbeAnswer> = { state: 'on' };
  /** Devices that were read, one entry each time. */
  readonly probed: string[] = [];

  constructor() {
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${NAMESPACE}`, 'system:authenticated'];
    const users = [
      { name: 'admin', groups: ['system:masters'] },
      { name: CONTROLLER, groups },
    ];
    const audit = (event: ApiEvent): void => void this.trace.push(event);
    const server = new ApiServer({ clock: this.clock, random: testRandom(), users, authorization: 'rbac', audit });
    this.#transport = inProcessTransport(server, 'admin');
    this.#controllers = inProcessTransport(server, CONTROLLER);
    this.operator = new ApiClient({ transport: this.#transport });
  }

  static async create(): Promise<RemedyShellWorld> {
    const world = new RemedyShellWorld();
    await install({ transport: world.#transport, cluster: world.operator });
    await sendShipped(world.#transport, ['remedies']);
    await world.operator.create(NODES, { metadata: { name: 'beat' }, spec: {}, status: {} });
    return world;
  }

  async configure(text: string, name = 'fence-remedies'): Promise<void> {
    const existing = await this.operator.get(CONFIG_MAPS, name, NAMESPACE);
    if (existing !== undefined) await this.operator.mergePatch(CONFIG_MAPS, name, { data: { 'a.yaml': text } }, { namespace: NAMESPACE });
    else await this.operator.create(CONFIG_MAPS, { metadata: { name, namespace: NAMESPACE }, data: { 'a.yaml': text } });
  }

  async addNode(name: string, labels: Record<string, string> = {}): Promise<Node> {
    const node: Node = { metadata: { name, labels }, spec: { providerID: `test:///${name}` }, status: {} };
    await this.operator.create(NODES, node);
    return this.says(name, { Ready: 'True' });
  }

  /** These conditions are set, all others stay. */
  async says(name: string, statuses: Readonly<Record<string, NodeCondition['status']>>, bootID?: string): Promise<Node> {
    const node = await this.operator.get(NODES, name);
    const kept = (node?.status.conditions ?? []).filter(({ type }) => statuses[type] === undefined);
    const now = this.now();
    const said = Object.entries(statuses).map(([type, status]) => ({
      ...{ type, status, reason: `${type}Said`, message: '' },
      ...{ lastHeartbeatTime: now, lastTransitionTime: now },
    }));
    const boot = bootID ?? node?.status.nodeInfo?.bootID ?? 'boot-1';
    const status = { conditions: [...kept, ...said], nodeInfo: { bootID: boot }, addresses: [{ type: 'InternalIP', address: '192.0.2.7' }] };
    return this.operator.mergePatch(NODES, name, { status }, { subresource: 'status' });
  }

  async addPod(name: string, node: string, more: Partial<Pod['spec']> = {}): Promise<void> {
    const spec = { nodeName: node, containers: [{ name: 'c', image: 'i' }], ...more };
    await this.operator.create(PODS, { metadata: { name, namespace: 'default' }, spec });
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await this.operator.mergePatch(PODS, name, { status }, { namespace: 'default', subresource: 'status' });
  }

  async jobs(): Promise<BatchJob[]> {
    return this.operator.list(JOBS, { namespace: NAMESPACE });
  }

  /** The Job controller: the Job's pod, on another node. */
  async podFor({ metadata, spec }: BatchJob, node = 'other'): Promise<string> {
    const name = `${metadata.name}-x`;
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: metadata.name, uid: metadata.uid ?? '', controller: true };
    const labels = spec.template.metadata?.labels ?? {};
    const pod = { metadata: { name, namespace: NAMESPACE, labels, ownerReferences: [owner] }, spec: { ...spec.template.spec, nodeName: node } };
    await this.operator.create(JOB_PODS, pod);
    return name;
  }

  async ends({ metadata: { name } }: BatchJob, type: 'Complete' | 'Failed'): Promise<void> {
    const phase = type === 'Complete' ? 'Succeeded' : 'Failed';
    const pod = await this.operator.get(JOB_PODS, `${name}-x`, NAMESPACE);
    if (pod !== undefined)
      await this.operator.mergePatch(JOB_PODS, `${name}-x`, { status: { phase } }, { namespace: NAMESPACE, subresource: 'status' });
    const conditions = [{ type, status: 'True', ...(type === 'Failed' && { reason: 'BackoffLimitExceeded' }) }];
    await this.operator.mergePatch(JOBS, name, { status: { conditions } }, { namespace: NAMESPACE, subresource: 'status' });
  }

  async remedies(node: string): Promise<RemediesStatus | undefined> {
    return (await this.operator.get(NODE_FENCE_REPORTS, node))?.status?.remedies;
  }

  /** `running repair 1`, by threshold. */
  async position(node: string, threshold?: string): Promise<string | undefined> {
    const positions = (await this.remedies(node))?.positions ?? [];
    const found = threshold === undefined ? positions[0] : positions.find((each) => each.threshold === threshold);
    return found && [found.phase, found.run?.remedy, found.attempt].filter((part) => part !== undefined).join(' ');
  }

  async fence(node: string): Promise<NodeFence | undefined> {
    return this.operator.get(NODE_FENCES, fenceName(node));
  }

  /** The fence controller, as far as a remedy can tell. */
  async fenced(node: string, how: Partial<NodeFenceStatus>): Promise<void> {
    const fence = await this.fence(node);
    if (fence === undefined) throw new Error(`nobody asked for a fence of ${node}`);
    const nodeUID = (await this.operator.get(NODES, node))?.metadata.uid ?? '';
    const by = fence.spec.requestedBy;
    const trigger = { kind: 'remediation' as const, since: this.now(), ...(by !== undefined && { requestUID: by.uid }) };
    const base: NodeFenceStatus = {
      ...{ state: 'running', step: 'isolation', level: 1, incident: 1, epoch: 1, retries: 0, restarts: 0, jobs: [], journal: [], evidence: [] },
      ...{ frozen: { nodeUID, plan: planOf() }, trigger, timeline: {}, conditions: [], history: [] },
    };
    await this.operator.replaceStatus(NODE_FENCES, { ...fence, status: { ...base, ...fence.status, ...how } });
  }

  async stop(spec: object, name = 'by-hand'): Promise<void> {
    await this.operator.create(NODE_FENCE_STOPS, { metadata: { name }, spec: { reason: 'a look', ...spec } });
  }

  now(): string {
    return new Date(this.clock.wallMs()).toISOString().replace(/\.\d{3}Z$/, 'Z');
  }

  /** A controller with watches of its own, as another process would be. */
  start({ mode = 'enforce' }: { mode?: 'observe' | 'enforce' } = {}): Replica {
    const leadership = { isLeading: true, mayBegin: () => leadership.isLeading };
    const said: { words: readonly string[] } = { words: [] };
    const replica: Replica = {
      writes: [],
      events: [],
      ended: [],
      problems: () => said.words,
      shown: undefined,
      leadership,
      fate: () => 'done',
      deafTo: new Set(),
      close: () => Promise.resolve(),
    };
    const transport: ApiTransport = {
      request: (request) => this.#send(replica, request),
      watch: (request, sink) => {
        const plural = new URL(request.path, 'http://api').pathname.split('/').at(-1) ?? '';
        const onEvent = (event: WatchEvent): void => (replica.deafTo.has(plural) ? undefined : sink.onEvent(event));
        return this.#controllers.watch(request, { onOpen: () => sink.onOpen(), onEvent, onEnd: (error) => sink.onEnd(error) });
      },
    };
    const cluster = new ApiClient({ transport });
    const logger = { debug: quiet, info: quiet, error: quiet, warn: quiet };
    const common = { transport, clock: this.clock, random: testRandom(), logger };
    const reflectors: Reflector<KubeObject>[] = [];
    const watch = <T extends KubeObject>(resource: Resource<T>, namespace?: string): Lister<T> => {
      const reflector = new Reflector<T>({ ...common, resource, metrics: NO_METRICS.watch, ...(namespace !== undefined && { namespace }) });
      reflectors.push(reflector as unknown as Reflector<KubeObject>);
      return reflector.lister;
    };
    const recorder = {
      event: (_about: KubeObject, type: string, reason: string, message: string) => void replica.events.push(`${type} ${reason} ${message}`),
    };
    const metrics = {
      ...NO_METRICS,
      remedies: {
        ...NO_METRICS.remedies,
        ended: (...words: string[]) => void replica.ended.push(words.join(' ')),
        problems: (count: number) => void (replica.shown = count),
      },
    };
    const listers = { nodes: watch(NODES), reports: watch(NODE_FENCE_REPORTS), fences: watch(NODE_FENCES), stops: watch(NODE_FENCE_STOPS) };
    const configMaps = watch(CONFIG_MAPS, NAMESPACE);
    const planner = {
      planFor: (_node: Node, asked?: object) => (asked === undefined ? this.plan : { ...this.plan, powerManagement: [] }),
      parametersFor: () => Promise.resolve({}),
      stormPolicies: () => [],
    };
    const remedies = setUpRemedies(
      { ...common, registry: standardRegistry(), metrics, recorder, planner: () => planner, exit: quiet },
      {
        ...{ mode, ownNode: undefined, outOfService: true, staleAfterMs: 60_000, namespace: NAMESPACE, identity: 'here', concurrency: 1 },
        ...{ syncDeadlineMs: 60_000, remedies: true },
      },
      {
        ...{ cluster, listers, configMaps, leadership, planner: planner },
        prober: {
          probe: ({ method }) => {
            this.probed.push(method.device);
            return Promise.resolve({ latencyMs: 1, ...this.device });
          },
        },
        lifeAtMs: (node) => this.silentSinceMs.get(node) ?? this.clock.monotonicMs(),
        remedyHolds: (node, stages) => this.storm(node, stages),
        foundWell: (node) => this.foundWell.get(node),
        say: (_topic, words) => void (said.words = words),
      },
    );
    if (remedies === undefined) throw new Error('they are switched off');
    for (const reflector of reflectors) reflector.start();
    remedies.start();
    replica.close = async () => {
      for (const reflector of reflectors) reflector.close();
      const closing = remedies.close();
      await this.clock.advance(1);
      await closing;
    };
    this.#replicas.push(replica);
    return replica;
  }

  async #send(replica: Replica, request: ApiRequest): ReturnType<ApiTransport['request']> {
    const nowMs = this.clock.monotonicMs();
    this.#sent = nowMs === this.#sent.atMs ? { atMs: nowMs, count: this.#sent.count + 1 } : { atMs: nowMs, count: 1 };
    // Time stands still for who asks for ever: its test fails, and does not hang.
    if (this.#sent.count > AT_ONCE_MAX) throw new TransportError('unreachable', `${AT_ONCE_MAX} requests in one moment`);
    if (this.unreadable.has(request.path)) throw new TransportError('timeout', 'no answer');
    if (request.method === 'GET') return this.#controllers.request(request);
    const { beforeSend, ...sent } = request;
    const write = `${request.method} ${request.path}`;
    // Once: whoever asks marks by it what begins.
    beforeSend?.();
    const fate = replica.fate(write);
    if (fate === 'lost') throw new TransportError('unreachable', 'no way there');
    replica.writes.push(write);
    const response = await this.#controllers.request(sent);
    if (fate === 'unanswered') throw new TransportError('timeout', 'no answer');
    return response;
  }

  /** Some kubelet is always heard, as in any cluster: watches that are silent for long count from anew. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= SECOND_MS) {
      await this.clock.advance(Math.min(SECOND_MS, left));
      if (left % (10 * SECOND_MS) === 0) await this.operator.mergePatch(NODES, 'beat', { metadata: { annotations: { heard: this.now() } } });
    }
  }

  async end(): Promise<void> {
    for (const replica of this.#replicas) await replica.close();
  }
}
