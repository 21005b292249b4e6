import { standardRegistry } from '../../agents/registry.ts';
import { setUpNodeRemediation } from '../../src/manager/node-remediation/setup.ts';
import { WorkloadPool } from '../../src/manager/workload-pool.ts';
import { fenceName } from '../../src/domain/node-fence.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import { planOf } from '../../src/domain/testing/model.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { clusterApiDefinition } from '../../src/testbed/operators/cluster-api.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { install } from '../../src/drill/run/installation.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { TransportError } from '../../src/ports/api-transport.ts';
import type { ApiRequest, ApiTransport } from '../../src/ports/api-transport.ts';
import { apiClusters, clusterMachines } from '../../src/ports/cluster-api.ts';
import type { ClusterMachine } from '../../src/ports/cluster-api.ts';
import type { Cluster, Resource } from '../../src/ports/cluster.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { KubeObject, Lease, Node } from '../../src/ports/objects.ts';
import type { ProofRead } from '../../src/ports/proof-reads.ts';
import { NODE_FENCE_REMEDIATION } from '../../src/ports/remediation.ts';
import type { NodeFenceRemediation, NodeFenceRemediationSpec } from '../../src/ports/remediation.ts';
import { LEASES, NODE_FENCES, NODE_LEASE_NAMESPACE, NODES } from '../../src/ports/resources.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { deafened } from '../deafened.ts';
import { EPOCH_MS } from './world.ts';

export const NAMESPACE = 'machines';
export const MACHINES = clusterMachines('v1beta2');
export const CLUSTERS = apiClusters('v1beta2');
export const { requests: REQUESTS, templates: TEMPLATES } = NODE_FENCE_REMEDIATION;
const CONTROLLER = 'system:serviceaccount:nodefence-system:nodefence-controller';
const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
export const DEFINITIONS: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

/** A definition that keeps whatever is written. */
export function openDefinition({ group, version, kind, plural }: Resource): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const spec = {
    group,
    scope: 'Namespaced',
    names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
    versions: [{ name: version, served: true, storage: true, schema, subresources: { status: {} } }],
  };
  return { metadata: { name: `${plural}.${group}` }, spec } as KubeObject;
}

/** One API server; the controller comes as its service account, with the rights that are shipped. */
class Site {
  readonly operator: Cluster;
  readonly transport: ApiTransport;
  readonly controllers: ApiTransport;
  /** What everybody has asked of it. */
  readonly trace: ApiEvent[] = [];

  constructor(clock: ManualClock) {
    const users = [
      { name: 'admin', groups: ['system:masters'] },
      { name: CONTROLLER, groups: ['system:serviceaccounts', 'system:serviceaccounts:nodefence-system', 'system:authenticated'] },
    ];
    const audit = (event: ApiEvent): void => void this.trace.push(event);
    const server = new ApiServer({ clock, random: testRandom(), users, authorization: 'rbac', audit });
    this.transport = inProcessTransport(server, 'admin');
    this.controllers = inProcessTransport(server, CONTROLLER);
    this.operator = new ApiClient({ transport: this.transport });
  }
}

export interface Replica {
  remediation: NonNullable<ReturnType<typeof setUpNodeRemediation>>;
  writes: string[];
  events: string[];
  warnings: string[];
  leadership: { isLeading: boolean; mayBegin: () => boolean };
  /** What becomes of a write. */
  fate: (write: string) => 'done' | 'lost' | 'unanswered';
  /** Its watch of this path brings nothing. */
  isDeaf: (path: string) => boolean;
  /** A write is on its way, and has not left yet. */
  onTheWay?: () => unknown;
  close: () => Promise<void>;
}

interface Starting {
  isLeading?: boolean;
  mode?: 'enforce' | 'observe';
  fate?: Replica['fate'];
}

interface Making {
  spec?: NodeFenceRemediationSpec;
  name?: string;
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
  owner?: ClusterMachine;
}

/** A management cluster with requests, and a workload cluster beside it; the test plays health check and fence controller. */
export class ShellWorld {
  readonly clock = new ManualClock({ wallMs: EPOCH_MS });
  readonly own = new Site(this.clock);
  readonly workload = new Site(this.clock);
  isWorkloadReachable = true;
  /** What the devices of the own cluster say when they are read anew. */
  readonly device = {
    doubt: undefined as string | undefined,
    reads: 0,
    readAnew: (): Promise<ProofRead> => {
      this.device.reads += 1;
      return Promise.resolve(this.device.doubt === undefined ? { atMs: this.clock.monotonicMs() } : { doubt: this.device.doubt });
    },
  };
  readonly #replicas: Replica[] = [];

  static async create({ isInstalled = true } = {}): Promise<ShellWorld> {
    const world = new ShellWorld();
    for (const { transport, operator } of [world.own, world.workload]) await install({ transport, cluster: operator });
    const { operator } = world.own;
    await operator.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    for (const resource of [MACHINES, CLUSTERS]) await operator.create(DEFINITIONS, clusterApiDefinition(resource));
    if (isInstalled) await world.install();
    return world;
  }

  async install(): Promise<void> {
    await sendShipped(this.own.transport, ['remediation', 'workload-clusters']);
  }

  async addNode(name: string, site: Site = this.own, annotations: Record<string, string> = {}): Promise<Node> {
    const node: Node = { metadata: { name, annotations }, spec: {}, status: {} };
    await site.operator.create(NODES, node);
    const renewTime = '2027-01-01T00:00:00.000000Z';
    const lease: Lease = { metadata: { name, namespace: NODE_LEASE_NAMESPACE }, spec: { holderIdentity: name, renewTime } };
    await site.operator.create(LEASES, lease);
    return this.ready(name, 'Unknown', site);
  }

  async ready(name: string, status: 'True' | 'False' | 'Unknown', site: Site = this.own): Promise<Node> {
    const conditions = [{ type: 'Ready', status, lastTransitionTime: this.now() }];
    return site.operator.mergePatch(NODES, name, { status: { conditions, nodeInfo: { bootID: 'boot-1' } } }, { subresource: 'status' });
  }

  /** A Machine of Cluster API with a nodeRef. */
  async addMachine(name: string, nodeName: string | undefined, cluster?: string): Promise<ClusterMachine> {
    const labels = cluster === undefined ? {} : { 'cluster.x-k8s.io/cluster-name': cluster };
    const { operator } = this.own;
    const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'DrillMachine', name };
    const spec = { clusterName: cluster ?? 'of-nobody', bootstrap: { dataSecretName: `bootstrap-${name}` }, infrastructureRef };
    await operator.create(MACHINES, { metadata: { name, namespace: NAMESPACE, labels }, spec });
    const status = nodeName === undefined ? {} : { nodeRef: { name: nodeName } };
    return operator.mergePatch(MACHINES, name, { status }, { namespace: NAMESPACE, subresource: 'status' });
  }

  /** As a health check makes it. */
  async request({ spec = {}, name = 'n', annotations = {}, labels = {}, owner }: Making = {}): Promise<NodeFenceRemediation> {
    const reference =
      owner === undefined
        ? []
        : [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: owner.metadata.name, uid: owner.metadata.uid ?? '' }];
    return this.own.operator.create(REQUESTS, { metadata: { name, namespace: NAMESPACE, annotations, labels, ownerReferences: reference }, spec });
  }

  async found(name = 'n'): Promise<NodeFenceRemediation | undefined> {
    return this.own.operator.get(REQUESTS, name, NAMESPACE);
  }

  async condition(type: string, name = 'n'): Promise<string | undefined> {
    return (await this.found(name))?.status?.conditions?.find((each) => each.type === type)?.status;
  }

  async phase(name = 'n'): Promise<string> {
    return (await this.found(name))?.status?.phase ?? '';
  }

  async delete(name = 'n'): Promise<void> {
    await this.own.operator.remove(REQUESTS, name, { namespace: NAMESPACE });
  }

  async fence(node: string, site: Site = this.own): Promise<NodeFence | undefined> {
    return site.operator.get(NODE_FENCES, fenceName(node));
  }

  /** The fence controller, as far as a request can tell: how far it has come with the fence of this node. */
  async fenced(node: string, how: Partial<NodeFenceStatus>, site: Site = this.own): Promise<void> {
    const fence = await this.fence(node, site);
    if (fence === undefined) throw new Error(`nobody asked for a fence of ${node}`);
    const nodeUID = fence.status?.frozen?.nodeUID ?? (await site.operator.get(NODES, node))?.metadata.uid ?? '';
    const by = fence.spec.requestedBy;
    const trigger = { kind: 'remediation' as const, since: this.now(), ...(by !== undefined && { requestUID: by.uid }) };
    const base: NodeFenceStatus = {
      ...{
        state: 'running',
        step: 'power-management',
        level: 1,
        incident: 1,
        epoch: 1,
        retries: 0,
        restarts: 0,
        jobs: [],
        journal: [],
        evidence: [],
      },
      ...{ frozen: { nodeUID, plan: planOf() }, trigger, timeline: {}, conditions: [], history: [] },
    };
    await site.operator.replaceStatus(NODE_FENCES, { ...fence, status: { ...base, ...how } });
  }

  proof(): NodeFenceStatus['evidence'] {
    return [{ kind: 'power-off', grade: 'read-back', source: 'job', detail: 'off', observedAt: this.now(), bootID: 'boot-1' }];
  }

  now(): string {
    return new Date(this.clock.wallMs()).toISOString().replace(/\.\d{3}Z$/, 'Z');
  }

  /** The finalizer of the fence goes when it has taken back what it did. */
  async letGo(node: string, site: Site = this.own): Promise<void> {
    const name = fenceName(node);
    await site.operator.mergePatch(NODE_FENCES, name, { metadata: { finalizers: null } });
  }

  /** A controller with watches of its own, as another process would be. */
  start({ isLeading = true, mode = 'enforce', fate = () => 'done' }: Starting = {}): Replica {
    const writes: string[] = [];
    const events: string[] = [];
    const warnings: string[] = [];
    const leadership = { isLeading, mayBegin: () => leadership.isLeading };
    const replica = { fate, isDeaf: () => false, writes, events, warnings, leadership } as unknown as Replica;
    const wire = (site: Site): ApiTransport => ({
      request: (request) =>
        site === this.workload && !this.isWorkloadReachable
          ? Promise.reject(new TransportError('unreachable', 'no way there'))
          : this.#send(site.controllers, replica, request),
      watch: (request, sink) => site.controllers.watch(request, deafened(replica, request.path, sink)),
    });
    const transport = wire(this.own);
    const cluster = new ApiClient({ transport });
    const logger = {
      debug: quiet,
      info: quiet,
      error: quiet,
      warn: (text: string, fields?: object) => void warnings.push(text + JSON.stringify(fields)),
    };
    const common = { transport, clock: this.clock, random: testRandom(), logger };
    const fences = new Reflector<NodeFence>({ ...common, resource: NODE_FENCES, metrics: NO_METRICS.watch });
    const recorder = {
      event: (about: KubeObject, type: string, reason: string, message: string) =>
        void events.push(`${about.kind ?? ''} ${about.metadata.name} ${type} ${reason} ${message}`),
    };
    const workloads = new WorkloadPool(cluster, (kubeconfig) => {
      if (kubeconfig !== 'the way to the workload cluster') throw new Error('another kubeconfig');
      return Promise.resolve({ transport: wire(this.workload), close: quiet });
    });
    const remediation = setUpNodeRemediation(
      {
        ...common,
        registry: standardRegistry(),
        metrics: NO_METRICS,
        recorder,
        planner: () => {
          throw new Error('nothing is planned here');
        },
        exit: quiet,
      },
      {
        ...{ mode, ownNode: undefined, outOfService: true, staleAfterMs: 60_000, namespace: 'nodefence-system', identity: 'here', concurrency: 1 },
        ...{ syncDeadlineMs: 60_000, remediation: true },
      },
      { cluster, listers: { fences: fences.lister }, leadership, workloads, proofReader: this.device },
    );
    if (remediation === undefined) throw new Error('it is switched off');
    fences.start();
    remediation.start();
    const close = async (): Promise<void> => {
      fences.close();
      const closing = remediation.close();
      await this.clock.advance(1);
      await closing;
    };
    Object.assign(replica, { remediation, close });
    this.#replicas.push(replica);
    return replica;
  }

  async #send(transport: ApiTransport, replica: Replica, request: ApiRequest): ReturnType<ApiTransport['request']> {
    if (request.method === 'GET') return transport.request(request);
    const write = `${request.method} ${request.path}`;
    if (replica.onTheWay !== undefined) await replica.onTheWay();
    request.beforeSend?.();
    replica.writes.push(write);
    const fate = replica.fate(write);
    if (fate === 'lost') throw new TransportError('unreachable', 'no way there');
    const response = await transport.request(request);
    if (fate === 'unanswered') throw new TransportError('timeout', 'no answer');
    return response;
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) await this.clock.advance(Math.min(1_000, left));
  }

  async end(): Promise<void> {
    for (const replica of this.#replicas) await replica.close();
  }
}

const quiet = (): void => undefined;
