import { standardRegistry } from '../../agents/registry.ts';
import { setUpMachineRemediation } from '../../src/manager/machine-remediation/setup.ts';
import { OffsOnRequest } from '../../src/controllers/shared/remediation/offs-on-request.ts';
import { BY_NODE } from '../../src/controllers/fence/dependencies.ts';
import { HOLD, MARKS, REQUEST } from '../../src/controllers/machine-remediation/names.ts';
import { OFF_REQUESTED } from '../../src/controllers/shared/baremetal-host/reboot.ts';
import type { NodeFenceStatus } from '../../src/domain/node-fence.ts';
import { planOf } from '../../src/domain/testing/model.ts';
import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { testRandom } from '../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { BareMetalOperator } from '../../src/testbed/operators/baremetal-operator.ts';
import type { HostPower } from '../../src/testbed/operators/baremetal-operator.ts';
import {
  createHostFleet,
  HOST_MACHINES,
  hostMachineName,
  hostName,
  hostProviderID,
  HOSTS_NAMESPACE,
} from '../../src/testbed/operators/host-fleet.ts';
import { HostMachines } from '../../src/testbed/operators/host-machines.ts';
import type { ApiEvent } from '../../src/laws/trace.ts';
import { install } from '../../src/drill/run/installation.ts';
import { ApiClient } from '../../src/kube/client.ts';
import type { Indexers } from '../../src/kube/lister.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { MEDIK8S_LEASE_NAMESPACE } from '../../src/manifests/access.ts';
import { TransportError } from '../../src/ports/api-transport.ts';
import type { ApiRequest, ApiTransport } from '../../src/ports/api-transport.ts';
import type { ClusterMachine } from '../../src/ports/cluster-api.ts';
import type { Cluster, Lister, Resource } from '../../src/ports/cluster.ts';
import { BARE_METAL_HOSTS } from '../../src/ports/metal3.ts';
import type { BareMetalHost } from '../../src/ports/metal3.ts';
import { NO_METRICS } from '../../src/ports/metrics.ts';
import type { KubeObject, Lease, Node } from '../../src/ports/objects.ts';
import { LEASES, NODE_FENCES, NODE_LEASE_NAMESPACE, NODES, VOLUME_ATTACHMENTS } from '../../src/ports/resources.ts';
import type { StormHolds } from '../../src/ports/storm.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { definitionOf, DEFINITIONS } from '../machine-health-check/definitions.ts';
import { deafened } from '../deafened.ts';
import { EPOCH_MS, SECOND_MS } from './world.ts';

const CONTROLLER = 'system:serviceaccount:nodefence-system:nodefence-controller';
const PACE = { steadyMs: 60_000, shortWaitMs: 3_000, softMs: 180_000, backOffUnitMs: 60_000 };
const RENEW_MS = 10_000;
const quiet = (): void => undefined;
const QUIET = { debug: quiet, info: quiet, warn: quiet, error: quiet };

export interface Replica {
  remediation: NonNullable<ReturnType<typeof setUpMachineRemediation>>;
  /** `POST path`, in order. */
  writes: string[];
  events: string[];
  warnings: string[];
  leadership: { isLeading: boolean; mayBegin: () => boolean };
  /** What becomes of a write. */
  fate: (write: string, number: number) => 'done' | 'lost' | 'unanswered';
  /** A write is on its way, and has not left yet. */
  onTheWay?: () => unknown;
  /** Watches bring nothing from now on where this says so. */
  isDeaf: (path: string) => boolean;
  close: () => Promise<void>;
}

interface Starting {
  isLeading?: boolean;
  mode?: 'enforce' | 'observe';
  choice?: 'incident' | 'seed-table' | 'off';
  fate?: Replica['fate'];
  ownNode?: string;
  nodeLeaseNamespace?: string | undefined;
}

/** What the fence controller writes at the end. */
export function finalStatus(how: Partial<NodeFenceStatus>): NodeFenceStatus {
  return {
    ...{ state: 'final', step: 'recovery', level: 1, incident: 1, epoch: 1, retries: 0, restarts: 0, jobs: [], journal: [], evidence: [] },
    ...{ frozen: { nodeUID: 'uid', plan: planOf() }, timeline: {}, conditions: [], history: [] },
    ...how,
  };
}

/** One machine: its power, and a kubelet that lives while it is on, booted and not broken. */
class Hardware {
  isOn = true;
  /** The kubelet says nothing, although the machine runs. */
  isBroken = false;
  /** Its BMC says off, and it runs on. */
  isLying = false;
  bootedAtMs = 0;
  offs = 0;
  boots = 1;
}

/** An API server with hosts, their operator, kubelets, and the controller under the rights that are shipped. */
export class ShellWorld implements HostPower {
  readonly clock = new ManualClock({ wallMs: EPOCH_MS });
  readonly operator: Cluster;
  readonly transport: ApiTransport;
  /** As the controller's account. */
  controllers: ApiTransport;
  readonly #hardware = new Map<string, Hardware>();
  readonly #replicas: Replica[] = [];
  readonly #stops: (() => void)[] = [];
  #denies: (request: ApiRequest) => boolean = () => false;
  #refusal = 403;
  #refuses: (request: ApiRequest) => boolean = () => false;
  /** What everybody asked of the API server. */
  readonly trace: ApiEvent[] = [];
  /** What storm policies say of every node. */
  storm: ReturnType<StormHolds> = [];
  /** Whose offs counted, at each question to the storm policies. */
  counted: string[][] = [];
  /** Of the replica that was started last. */
  offs: OffsOnRequest | undefined;
  bootMs = 60_000;
  isBmcDead = false;
  /** The cluster takes the volumes of a Node that is out of service within a second. */
  detaches = true;

  private constructor() {
    const users = [
      { name: 'admin', groups: ['system:masters'] },
      { name: CONTROLLER, groups: ['system:serviceaccounts', 'system:serviceaccounts:nodefence-system', 'system:authenticated'] },
    ];
    const audit = (event: ApiEvent): void => void this.trace.push(event);
    const server = new ApiServer({ clock: this.clock, random: testRandom(), users, authorization: 'rbac', audit });
    this.transport = inProcessTransport(server, 'admin');
    this.controllers = inProcessTransport(server, CONTROLLER);
    this.operator = new ApiClient({ transport: this.transport });
  }

  static async create({
    nodes = ['n1', 'n2'],
    hasOperator = true,
    folders = ['machine-remediation', 'medik8s'],
    kinds = [] as readonly Resource[],
  } = {}): Promise<ShellWorld> {
    const world = new ShellWorld();
    await install({ transport: world.transport, cluster: world.operator, hosts: { folders } } as unknown as Parameters<typeof install>[0]);
    for (const kind of kinds) await world.operator.create(DEFINITIONS, definitionOf(kind));
    await createHostFleet(world.operator, nodes, world.clock.wallMs());
    for (const name of nodes) world.#hardware.set(name, new Hardware());
    const dependencies = { transport: world.transport, clock: world.clock, random: testRandom(), trace: quiet };
    const actors = [new HostMachines(dependencies), ...(hasOperator ? [new BareMetalOperator(dependencies, world, PACE)] : [])];
    for (const actor of actors) {
      actor.start();
      world.#stops.push(() => {
        actor.stop();
      });
    }
    await world.pass(15_000);
    return world;
  }

  hardware(node: string): Hardware {
    const found = this.#hardware.get(node);
    if (found === undefined) throw new Error(`there is no machine ${node}`);
    return found;
  }

  read(node: string): Promise<'on' | 'off'> {
    return this.isBmcDead ? Promise.reject(new Error('no answer')) : Promise.resolve(this.hardware(node).isOn ? 'on' : 'off');
  }

  set(node: string, state: 'on' | 'off'): Promise<void> {
    if (this.isBmcDead) return Promise.reject(new Error('no answer'));
    const hardware = this.hardware(node);
    if (state === 'off' && hardware.isOn) hardware.offs += 1;
    if (state === 'on' && !hardware.isOn) {
      hardware.boots += 1;
      hardware.bootedAtMs = this.clock.monotonicMs() + this.bootMs;
    }
    hardware.isOn = state === 'on';
    return Promise.resolve();
  }

  /** A health check asks. */
  ask(node: string): Promise<unknown> {
    return this.annotate(HOST_MACHINES, hostMachineName(node), { [REQUEST]: '' });
  }

  unask(node: string): Promise<unknown> {
    return this.annotate(HOST_MACHINES, hostMachineName(node), { [REQUEST]: null });
  }

  annotate(resource: Resource, name: string, annotations: Record<string, string | null>): Promise<unknown> {
    return this.operator.mergePatch(resource, name, { metadata: { annotations } }, { namespace: HOSTS_NAMESPACE });
  }

  machine(node: string): Promise<ClusterMachine | undefined> {
    return this.operator.get(HOST_MACHINES, hostMachineName(node), HOSTS_NAMESPACE);
  }

  host(node: string): Promise<BareMetalHost | undefined> {
    return this.operator.get(BARE_METAL_HOSTS, hostName(node), HOSTS_NAMESPACE);
  }

  node(name: string): Promise<Node | undefined> {
    return this.operator.get(NODES, name);
  }

  /** The node lease of medik8s. */
  async holder(node: string): Promise<string | undefined> {
    return (await this.operator.get(LEASES, `node-${node}`, MEDIK8S_LEASE_NAMESPACE))?.spec.holderIdentity;
  }

  /** Marks of ours on Machine and host; empty: all is as before. */
  async left(node: string): Promise<string[]> {
    const [machine, host] = [await this.machine(node), await this.host(node)];
    const on = (object: KubeObject | undefined, keys: readonly string[]): string[] =>
      keys.filter((key) => object?.metadata.annotations?.[key] !== undefined);
    return [...on(machine, MARKS), ...on(host, [HOLD, OFF_REQUESTED])];
  }

  start({ isLeading = true, mode = 'enforce', choice = 'incident', fate = () => 'done', ...more }: Starting = {}): Replica {
    const replica = { fate, isDeaf: () => false, writes: [], events: [], warnings: [] } as unknown as Replica;
    const transport = this.#wire(replica);
    const logger = {
      ...QUIET,
      warn: (_text: string, fields: object = {}) => void replica.warnings.push(Object.values(fields).map(String).join(' ')),
    };
    const base = { transport, clock: this.clock, random: testRandom() };
    const closing: (() => void)[] = [];
    const watch = <T extends KubeObject>(resource: Resource<T>, namespace?: string, indexes: Indexers<T> = {}): Lister<T> => {
      const reflector = new Reflector<T>({
        ...base,
        logger: QUIET,
        metrics: NO_METRICS.watch,
        resource,
        indexes,
        ...(namespace !== undefined && { namespace }),
      });
      reflector.start();
      closing.push(() => {
        reflector.close();
      });
      return reflector.lister;
    };
    const leadership = { isLeading, mayBegin: () => leadership.isLeading };
    const recorder = {
      event: ({ kind = '', metadata }: KubeObject, type: string, reason: string, message: string) =>
        void replica.events.push(`${kind} ${metadata.name} ${type} ${reason} ${message}`),
    };
    const nodeLeaseNamespace = 'nodeLeaseNamespace' in more ? more.nodeLeaseNamespace : MEDIK8S_LEASE_NAMESPACE;
    const offsOnRequest = new OffsOnRequest(this.clock);
    this.offs = offsOnRequest;
    const remediation = setUpMachineRemediation(
      {
        ...base,
        ...{ logger, registry: standardRegistry(), metrics: NO_METRICS, recorder, exit: quiet },
        planner: () => {
          throw new Error('nothing is planned here');
        },
      },
      {
        ...{ mode, ownNode: more.ownNode, outOfService: true, staleAfterMs: 60_000, namespace: 'nodefence-system', identity: 'here' },
        ...{ concurrency: 1, syncDeadlineMs: 60_000, machineRemediation: choice, ...(nodeLeaseNamespace !== undefined && { nodeLeaseNamespace }) },
      },
      {
        cluster: new ApiClient({ transport }),
        listers: {
          nodes: watch(NODES),
          leases: watch(LEASES, NODE_LEASE_NAMESPACE),
          fences: watch(NODE_FENCES),
          volumeAttachments: watch(VOLUME_ATTACHMENTS, undefined, { [BY_NODE]: ({ spec }) => [spec.nodeName] }),
        },
        leadership,
        stormHolds: () => {
          this.counted.push([...offsOnRequest.all.keys()]);
          return this.storm;
        },
        offsOnRequest,
      },
    );
    if (remediation === undefined) throw new Error('it is switched off');
    remediation.start();
    const close = async (): Promise<void> => {
      const ended = remediation.close();
      await this.clock.advance(1);
      await ended;
      for (const end of closing.splice(0)) end();
    };
    this.#replicas.push(Object.assign(replica, { remediation, leadership, close }));
    return replica;
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= SECOND_MS) {
      await this.clock.advance(Math.min(SECOND_MS, left));
      for (const [name, hardware] of this.#hardware) {
        await this.#live(name, hardware);
        await this.#detach(name);
      }
    }
  }

  /** A volume is attached to the node. */
  attach(node: string): Promise<unknown> {
    const spec = { attacher: 'csi', nodeName: node, source: { persistentVolumeName: 'data' } };
    return this.operator.create(VOLUME_ATTACHMENTS, { metadata: { name: `csi-data-${node}` }, spec });
  }

  /** What the controller may not do now, whatever its roles say; none: all that these grant. */
  deny(denies: (request: ApiRequest) => boolean = () => false): void {
    this.#denies = denies;
  }

  /** As an admission policy of somebody may. */
  refuseTaints(status: number): void {
    this.#refusal = status;
    this.#refuses = ({ method, path, body }) => method === 'PATCH' && path.startsWith('/api/v1/nodes/') && JSON.stringify(body).includes('taints');
  }

  /** Behind the controller's back. */
  letGo(node: string): Promise<unknown> {
    return this.annotate(BARE_METAL_HOSTS, hostName(node), { [HOLD]: null, [OFF_REQUESTED]: null });
  }

  async attached(node: string): Promise<number> {
    return (await this.operator.list(VOLUME_ATTACHMENTS)).filter(({ spec }) => spec.nodeName === node).length;
  }

  async #detach(name: string): Promise<void> {
    const isOut = (await this.node(name))?.spec.taints?.some(({ key }) => key === 'node.kubernetes.io/out-of-service') === true;
    if (isOut && this.detaches && (await this.attached(name)) > 0) await this.operator.remove(VOLUME_ATTACHMENTS, `csi-data-${name}`);
  }

  async end(): Promise<void> {
    for (const replica of this.#replicas) await replica.close();
    for (const stop of this.#stops) stop();
  }

  /** The kubelet: registers its Node where there is none, renews its Lease. */
  async #live(name: string, { isOn, isLying, isBroken, bootedAtMs, boots }: Hardware): Promise<void> {
    const nowMs = this.clock.monotonicMs();
    if (!(isOn || isLying) || isBroken || nowMs < bootedAtMs || Math.round(nowMs) % RENEW_MS >= SECOND_MS) return;
    const renewTime = new Date(this.clock.wallMs()).toISOString().replace('Z', '000Z');
    if ((await this.node(name)) === undefined) {
      const labels = { 'kubernetes.io/hostname': name, ...(boots === 1 && { zone: 'a' }) };
      await this.operator.create<Node>(NODES, { metadata: { name, labels }, spec: { providerID: hostProviderID(name) }, status: {} });
      const status = { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { bootID: `boot-${boots}` } };
      await this.operator.mergePatch(NODES, name, { status }, { subresource: 'status' });
    }
    const lease = await this.operator.get(LEASES, name, NODE_LEASE_NAMESPACE);
    const spec = { holderIdentity: name, renewTime };
    if (lease === undefined) await this.operator.create<Lease>(LEASES, { metadata: { name, namespace: NODE_LEASE_NAMESPACE }, spec });
    else await this.operator.mergePatch(LEASES, name, { spec }, { namespace: NODE_LEASE_NAMESPACE });
  }

  #wire(replica: Replica): ApiTransport {
    return {
      request: async (request: ApiRequest) => {
        if (this.#denies(request)) {
          const message = `${request.path} is forbidden: the user cannot ${request.method}`;
          return { status: 403, headers: {}, body: { kind: 'Status', status: 'Failure', reason: 'Forbidden', message, code: 403 } };
        }
        // What an account may do is asked for by a POST that writes nothing.
        if (request.method === 'GET' || request.path.startsWith('/apis/authorization.k8s.io/')) return this.controllers.request(request);
        const write = `${request.method} ${request.path}`;
        if (replica.onTheWay !== undefined) await replica.onTheWay();
        request.beforeSend?.();
        replica.writes.push(write);
        const fate = replica.fate(write, replica.writes.length);
        if (fate === 'lost') throw new TransportError('unreachable', 'no way there');
        if (this.#refuses(request)) return { status: this.#refusal, headers: {}, body: { kind: 'Status', status: 'Failure', message: 'no' } };
        const response = await this.controllers.request(request);
        if (response.status === 403) replica.warnings.push(`forbidden: ${write}`);
        if (fate === 'unanswered') throw new TransportError('timeout', 'no answer');
        return response;
      },
      watch: (request, sink) => this.controllers.watch(request, deafened(replica, request.path, sink)),
    };
  }
}
