import { setUpMetal3Remediation } from '../../src/manager/metal3-remediation/setup.ts';
import type { ControllerOptions, ControllerPorts } from '../../src/manager/composition.ts';
import { WorkloadPool } from '../../src/manager/workload-pool.ts';
import { OffsOnRequest } from '../../src/controllers/shared/remediation/offs-on-request.ts';
import { BY_NODE } from '../../src/controllers/fence/dependencies.ts';
import { OUT_OF_SERVICE } from '../../src/controllers/metal3-remediation/names.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { HOST_DEFINITIONS, HOST_MACHINES } from '../../src/testbed/operators/host-fleet.ts';
import { install } from '../../src/drill/run/installation.ts';
import { sendShipped } from '../../src/testbed/shipped/send.ts';
import { ApiClient } from '../../src/kube/client.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { MEDIK8S_LEASE_NAMESPACE } from '../../src/manifests/access.ts';
import { TransportError } from '../../src/ports/api-transport.ts';
import type { ApiRequest, ApiTransport } from '../../src/ports/api-transport.ts';
import type { Resource } from '../../src/ports/cluster.ts';
import { apiClusters } from '../../src/ports/cluster-api.ts';
import type { ClusterMachine } from '../../src/ports/cluster-api.ts';
import { BARE_METAL_HOSTS, metal3Remediations } from '../../src/ports/metal3.ts';
import type { BareMetalHost, Metal3Remediation } from '../../src/ports/metal3.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { KubeObject, Lease, Node, Pod, VolumeAttachment } from '../../src/ports/objects.ts';
import { LEASES, NODE_LEASE_NAMESPACE, NODES, PODS, SECRETS, VOLUME_ATTACHMENTS } from '../../src/ports/resources.ts';
import type { StormHolds } from '../../src/ports/storm.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { ApiOperator } from '../baremetal-host/api-operator.ts';
import { Operator } from '../baremetal-host/operator.ts';
import { deafened } from '../deafened.ts';
import { CONTROLLER, DEFINITIONS, rights, Site } from './site.ts';

export const NAMESPACE = 'metal';
export const { requests: REMEDIATIONS, templates: TEMPLATES } = metal3Remediations('v1beta2');
export const CLUSTERS = apiClusters('v1beta2');
const EPOCH_MS = Date.UTC(2027, 0, 1);
const SECOND_MS = 1_000;
const HEARTBEAT_MS = 10_000;
const GRACE_MS = 40_000;
const METAL3_MACHINES: Resource = {
  group: 'infrastructure.cluster.x-k8s.io',
  version: 'v1beta1',
  kind: 'Metal3Machine',
  plural: 'metal3machines',
  namespaced: true,
};
const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const quiet = (): void => undefined;

export interface Replica {
  remediation: NonNullable<ReturnType<typeof setUpMetal3Remediation>>;
  writes: string[];
  events: string[];
  warnings: string[];
  leadership: { isLeading: boolean; mayBegin: () => boolean };
  /** What becomes of a write; killed: this process does nothing more. */
  fate: (write: string) => 'done' | 'lost' | 'unanswered' | 'killed-before' | 'killed-after';
  /** A write is on its way, and has not left yet. */
  onTheWay?: () => unknown;
  isDead: boolean;
  /** Its watch of this path brings nothing. */
  isDeaf: (path: string) => boolean;
  close: () => Promise<void>;
}

interface Starting {
  isLeading?: boolean;
  fate?: Replica['fate'];
  more?: Partial<ControllerOptions>;
}

interface Scene {
  /** Of Kubernetes, where the Node is. */
  minor?: number;
  /** The Node is behind the Secret of its Cluster. */
  isFar?: boolean;
  machine?: Operator;
  isInstalled?: boolean;
  /** There is no operator. */
  isUnserved?: boolean;
}

/** A Machine `m` on host `host` with Node `n`, whose machine hangs: it is on, and is not heard until it is switched off and on. The test plays the health check. */
export class ShellWorld {
  readonly clock = new ManualClock({ wallMs: EPOCH_MS });
  readonly offs = new OffsOnRequest(this.clock);
  readonly own = new Site(this.clock);
  readonly workload = new Site(this.clock);
  readonly far: boolean;
  readonly host: ApiOperator;
  /** From power-on to the first heartbeat. */
  bootMs = 30_000;
  /** It never comes up. */
  isBroken = false;
  /** It lives, whatever the health check thinks. */
  isAlive = false;
  /** What the storm policies say. */
  storm: ReturnType<StormHolds> = [];
  readonly broken: string[] = [];
  #wasOn = true;
  #onSinceMs: number | undefined;
  #beatMs = 0;
  #heardMs = 0;
  readonly #replicas: Replica[] = [];

  constructor({ isFar = false, machine = new Operator() }: Scene = {}) {
    this.far = isFar;
    this.host = new ApiOperator(this.own.operator, { namespace: NAMESPACE, name: 'host' }, machine);
  }

  get site(): Site {
    return this.far ? this.workload : this.own;
  }

  static async create(scene: Scene = {}): Promise<ShellWorld> {
    const world = new ShellWorld(scene);
    const { own, workload } = world;
    for (const { transport, operator } of [own, workload]) {
      await install({ transport, cluster: operator });
      await operator.create(NAMESPACES, { metadata: { name: MEDIK8S_LEASE_NAMESPACE } });
      await sendShipped(transport, ['medik8s']);
    }
    // As the kubeconfig of Cluster API is: an administrator's.
    await workload.operator.create(rights('ClusterRoleBinding'), {
      metadata: { name: 'kubeconfig' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'everything' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: CONTROLLER }],
    } as KubeObject);
    await workload.operator.create(rights('ClusterRole'), {
      metadata: { name: 'everything' },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    } as KubeObject);
    for (const definition of HOST_DEFINITIONS) await own.operator.create(DEFINITIONS, definition);
    await own.operator.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    if (scene.isInstalled !== false) await world.install();
    world.site.minor = scene.minor ?? 27;
    world.host.isRunning = scene.isUnserved !== true;
    await world.populate();
    return world;
  }

  /** `others`: definitions that somebody else has brought before. */
  async install(others: readonly KubeObject[] = []): Promise<void> {
    const { operator, transport } = this.own;
    for (const definition of others) await operator.create(DEFINITIONS, definition);
    await sendShipped(transport, ['metal3-remediation-crd', 'metal3-remediation', 'workload-clusters']);
  }

  async populate(): Promise<void> {
    const { operator } = this.own;
    const place = { namespace: NAMESPACE };
    const label = { 'cluster.x-k8s.io/cluster-name': 'c' };
    await operator.create(CLUSTERS, { metadata: { ...place, name: 'c' }, spec: { paused: false } });
    await operator.create(METAL3_MACHINES, { metadata: { ...place, name: 'mm', annotations: { 'metal3.io/BareMetalHost': `${NAMESPACE}/host` } } });
    const consumerRef = { kind: 'Metal3Machine', namespace: NAMESPACE, name: 'mm' };
    await operator.create(BARE_METAL_HOSTS, { metadata: { ...place, name: 'host' }, spec: { online: true, consumerRef } });
    await this.host.tick(0);
    const infrastructureRef = { apiGroup: METAL3_MACHINES.group, kind: 'Metal3Machine', name: 'mm' };
    const spec = { clusterName: 'c', bootstrap: { dataSecretName: 'bootstrap-m' }, infrastructureRef };
    const { metadata: made } = await operator.create(HOST_MACHINES, { metadata: { ...place, name: 'm', labels: label }, spec });
    const ownerReferences = [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: 'm', uid: made.uid ?? '' }];
    await operator.mergePatch(METAL3_MACHINES, 'mm', { metadata: { labels: label, ownerReferences } }, place);
    await operator.mergePatch(HOST_MACHINES, 'm', { status: { nodeRef: { name: 'n' } } }, { ...place, subresource: 'status' });
    await this.#register({ zone: 'a', host: 'n' }, { cni: 'x' });
    if (this.far) {
      const data = { value: Buffer.from('the way to the workload cluster').toString('base64') };
      await operator.create(SECRETS, { metadata: { name: 'c-kubeconfig', namespace: NAMESPACE }, data });
    }
    // Another Node of the same Cluster tells whose cluster this is.
    await this.site.operator.create(NODES, { metadata: { name: 'other', annotations: this.#marks('another') }, spec: {}, status: {} });
  }

  /** As a health check makes it. */
  async request(spec: object = {}, more: Partial<KubeObject['metadata']> = {}): Promise<Metal3Remediation> {
    const machine = await this.machine();
    const reference = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: 'm', uid: machine?.metadata.uid ?? '' };
    const labels = { 'cluster.x-k8s.io/cluster-name': 'c' };
    return this.own.operator.create(REMEDIATIONS, {
      metadata: { name: 'm', namespace: NAMESPACE, labels, ownerReferences: [reference], ...more },
      spec,
    });
  }

  async found(): Promise<Metal3Remediation | undefined> {
    return this.own.operator.get(REMEDIATIONS, 'm', NAMESPACE);
  }

  async phase(): Promise<string> {
    return (await this.found())?.status?.phase ?? '';
  }

  async delete(): Promise<void> {
    await this.own.operator.remove(REMEDIATIONS, 'm', { namespace: NAMESPACE });
  }

  async machine(): Promise<ClusterMachine | undefined> {
    return this.own.operator.get(HOST_MACHINES, 'm', NAMESPACE);
  }

  async hostObject(): Promise<BareMetalHost | undefined> {
    return this.own.operator.get(BARE_METAL_HOSTS, 'host', NAMESPACE);
  }

  async node(): Promise<Node | undefined> {
    return this.site.operator.get(NODES, 'n');
  }

  /** A volume of its workload. */
  async attach(): Promise<void> {
    const spec = { attacher: 'csi.example.io', nodeName: 'n', source: { persistentVolumeName: 'data' } };
    await this.site.operator.create(VOLUME_ATTACHMENTS, { metadata: { name: 'volume' }, spec });
  }

  async detach(): Promise<void> {
    await this.site.operator.remove(VOLUME_ATTACHMENTS, 'volume');
  }

  async lock(site: Site = this.site): Promise<Lease | undefined> {
    return site.operator.get(LEASES, 'node-n', MEDIK8S_LEASE_NAMESPACE);
  }

  /** Annotations of the host that hold it off. */
  async holds(): Promise<string[]> {
    return Object.keys((await this.hostObject())?.metadata.annotations ?? {}).filter((key) => key.startsWith('reboot.metal3.io/'));
  }

  /** A controller with watches of its own, as another process would be. */
  start({ isLeading = true, fate = () => 'done', more = {} }: Starting = {}): Replica {
    const replica = { fate, writes: [], events: [], warnings: [], isDead: false, isDeaf: () => false } as unknown as Replica;
    const leadership = { isLeading, mayBegin: () => leadership.isLeading && !replica.isDead };
    const wire = (site: Site): ApiTransport => ({
      request: (request) => this.#send(site, replica, request),
      watch: (request, sink) => site.controllers.watch(request, deafened(replica, request.path, sink)),
    });
    const transport = wire(this.own);
    const cluster = new ApiClient({ transport });
    const warn = (text: string, fields?: object): void => void replica.warnings.push(text + JSON.stringify(fields));
    const logger = { debug: quiet, info: quiet, error: quiet, warn };
    const common = { transport, clock: this.clock, random: testRandom(), logger };
    const watched = { ...common, metrics: NO_METRICS.watch };
    const nodes = new Reflector<Node>({ ...watched, resource: NODES });
    const pods = new Reflector<Pod>({ ...watched, resource: PODS, indexes: { [BY_NODE]: ({ spec }) => [spec.nodeName ?? ''] } });
    const volumeAttachments = new Reflector<VolumeAttachment>({
      ...watched,
      resource: VOLUME_ATTACHMENTS,
      indexes: { [BY_NODE]: ({ spec }) => [spec.nodeName] },
    });
    const reflectors = [nodes, pods, volumeAttachments];
    const recorder = {
      event: (about: KubeObject, type: string, reason: string, message: string) =>
        void replica.events.push(`${about.kind ?? ''} ${about.metadata.name} ${type} ${reason} ${message}`),
    };
    const ports = { ...common, metrics: NO_METRICS, recorder } as unknown as ControllerPorts;
    const reach = (): Promise<{ transport: ApiTransport; close: () => void }> => Promise.resolve({ transport: wire(this.workload), close: quiet });
    const options = {
      mode: 'enforce',
      namespace: 'nodefence-system',
      metal3Remediation: 'auto',
      nodeLeaseNamespace: MEDIK8S_LEASE_NAMESPACE,
      ...more,
    } as ControllerOptions;
    const sources = {
      cluster,
      listers: { nodes: nodes.lister, pods: pods.lister, volumeAttachments: volumeAttachments.lister },
      leadership,
      workloads: new WorkloadPool(cluster, reach),
      stormHolds: () => this.storm,
      offsOnRequest: this.offs,
    };
    const remediation = setUpMetal3Remediation(ports, options, sources);
    if (remediation === undefined) throw new Error('it is switched off');
    for (const reflector of reflectors) reflector.start();
    remediation.start();
    const close = async (): Promise<void> => {
      for (const reflector of reflectors) reflector.close();
      const closing = remediation.close();
      await this.clock.advance(1);
      // What a dead one waits for never comes.
      if (!replica.isDead) await closing;
    };
    Object.assign(replica, { remediation, leadership, close });
    this.#replicas.push(replica);
    return replica;
  }

  async #send({ controllers, minor, isReachable, denies }: Site, replica: Replica, request: ApiRequest): ReturnType<ApiTransport['request']> {
    if (replica.isDead) return new Promise(() => undefined);
    if (!isReachable) throw new TransportError('unreachable', 'no way there');
    if (denies(request)) {
      const message = `${request.path} is forbidden: the user cannot ${request.method}`;
      return { status: 403, headers: {}, body: { kind: 'Status', status: 'Failure', reason: 'Forbidden', message, code: 403 } };
    }
    if (request.path === '/version') return { status: 200, headers: {}, body: { major: '1', minor: String(minor) } };
    // What an account may do is asked for by a POST that writes nothing.
    if (request.method === 'GET' || request.path.startsWith('/apis/authorization.k8s.io/')) return controllers.request(request);
    const write = `${request.method} ${request.path}`;
    if (replica.onTheWay !== undefined) await replica.onTheWay();
    request.beforeSend?.();
    replica.writes.push(write);
    this.#judge(request);
    const fate = replica.fate(write);
    if (fate === 'lost') throw new TransportError('unreachable', 'no way there');
    if (fate === 'killed-before') replica.isDead = true;
    if (replica.isDead) return new Promise(() => undefined);
    const response = await controllers.request(request);
    if (fate === 'killed-after') {
      replica.isDead = true;
      return new Promise(() => undefined);
    }
    if (fate === 'unanswered') throw new TransportError('timeout', 'no answer');
    return response;
  }

  /** P1: nothing is released while the machine runs. */
  #judge({ method, path, body }: ApiRequest): void {
    if (!this.host.machine.isOn) return;
    if (method === 'DELETE' && path.includes('/pods/')) this.broken.push('P1: a pod was deleted while its machine ran');
    if (path !== '/api/v1/nodes/n') return;
    const { spec } = (body ?? {}) as { spec?: { taints?: { key: string }[] } };
    if (method === 'DELETE') this.broken.push('P1: the Node was deleted while its machine ran');
    if (spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE.key) === true) this.broken.push('P1: the Node was tainted while its machine ran');
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= SECOND_MS) {
      await this.clock.advance(Math.min(SECOND_MS, left));
      await this.host.tick(this.clock.wallMs() - EPOCH_MS);
      await this.#live();
    }
  }

  async end(): Promise<void> {
    for (const replica of this.#replicas.splice(0)) await replica.close();
  }

  /** Its kubelet, and the node controller of the cluster. */
  async #live(): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    const { isOn } = this.host.machine;
    if (isOn && !this.#wasOn) {
      this.#onSinceMs = nowMs;
      if ((await this.node())?.spec.taints?.some(({ key }) => key === OUT_OF_SERVICE.key) === true)
        this.broken.push('P3: a tainted node was started');
    }
    if (!isOn) this.#onSinceMs = undefined;
    this.#wasOn = isOn;
    const isUp = isOn && (this.isAlive || (!this.isBroken && this.#onSinceMs !== undefined && nowMs - this.#onSinceMs >= this.bootMs));
    if (isUp && nowMs - this.#beatMs >= HEARTBEAT_MS) await this.#beat(nowMs);
    if (nowMs - this.#heardMs === GRACE_MS) await this.#say('Unknown');
  }

  async #beat(nowMs: number): Promise<void> {
    this.#beatMs = nowMs;
    this.#heardMs = nowMs;
    const { operator } = this.site;
    if ((await this.node()) === undefined) await this.#register({ host: 'n' }, {});
    const renewTime = new Date(this.clock.wallMs()).toISOString().replace('Z', '000Z');
    await operator.mergePatch(LEASES, 'n', { spec: { renewTime } }, { namespace: NODE_LEASE_NAMESPACE });
    await this.#say('True');
  }

  async #say(status: 'True' | 'Unknown'): Promise<void> {
    if ((await this.node()) === undefined) return;
    await this.site.operator.mergePatch(NODES, 'n', { status: { conditions: [{ type: 'Ready', status }] } }, { subresource: 'status' });
  }

  async #register(labels: Record<string, string>, annotations: Record<string, string>): Promise<void> {
    const { operator } = this.site;
    await operator.create(NODES, { metadata: { name: 'n', labels, annotations: { ...annotations, ...this.#marks('m') } }, spec: {}, status: {} });
    const lease = {
      metadata: { name: 'n', namespace: NODE_LEASE_NAMESPACE },
      spec: { holderIdentity: 'n', renewTime: '2027-01-01T00:00:00.000000Z' },
    };
    if ((await operator.get(LEASES, 'n', NODE_LEASE_NAMESPACE)) === undefined) await operator.create<Lease>(LEASES, lease);
    await this.#say('Unknown');
  }

  #marks(machine: string): Record<string, string> {
    return {
      'cluster.x-k8s.io/cluster-name': 'c',
      'cluster.x-k8s.io/cluster-namespace': NAMESPACE,
      'cluster.x-k8s.io/machine': machine,
    };
  }
}
