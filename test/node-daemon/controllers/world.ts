import { NodeDaemonController } from '../../../src/controllers/node-daemons/controller.ts';
import type { NodeDaemonDependencies } from '../../../src/controllers/node-daemons/dependencies.ts';
import { ATTESTATION, attestationName, parseAttestation, parseGrantsEnded, parsePeers } from '../../../src/domain/node-daemon/attestation.ts';
import type { Attestation, GrantsEnded, PeersTold } from '../../../src/domain/node-daemon/attestation.ts';
import type { WrittenTimes } from '../../../src/domain/node-daemon/times.ts';
import { decode } from '../../../src/domain/node-daemon/datagram.ts';
import type { Datagram } from '../../../src/domain/node-daemon/datagram.ts';
import { install } from '../../../src/drill/run/installation.ts';
import { ApiClient } from '../../../src/kube/client.ts';
import { Reflector } from '../../../src/kube/reflector.ts';
import { keyOf, macOf } from '../../../src/testbed/simulation/keys.ts';
import { DaemonWorld } from '../model/world.ts';
import type { MachineModel, MachineOptions } from '../model/world.ts';
import { TransportError } from '../../../src/ports/api-transport.ts';
import type { ApiTransport } from '../../../src/ports/api-transport.ts';
import type { Cluster, Lister, Resource } from '../../../src/ports/cluster.ts';
import { NO_METRICS } from '../../../src/ports/metrics.ts';
import type { NodeDaemonMetrics } from '../../../src/ports/metrics.ts';
import type { DatagramSocket, ExchangeKeyPairs } from '../../../src/ports/node-daemon.ts';
import type { KubeObject, Lease } from '../../../src/ports/objects.ts';
import { CONFIG_MAPS, LEASES, NODE_FENCE_REPORTS, NODE_LEASE_NAMESPACE, NODES } from '../../../src/ports/resources.ts';
import type { NodeFenceReport } from '../../../src/ports/resources.ts';
import { ApiServer } from '../../../src/testbed/apiserver/server.ts';
import { testRandom } from '../../../src/testbed/apiserver/test-support.ts';
import { inProcessTransport } from '../../../src/testbed/apiserver/transport.ts';

export const NAMESPACE = 'nodefence-system';
export const ZONE = 'topology.kubernetes.io/zone';
const quiet = (): void => undefined;
const QUIET = { debug: quiet, info: quiet, warn: quiet, error: quiet };

/** One replica of the controllers with watches of its own, as another process would be. */
export interface Replica {
  controller: NodeDaemonController;
  leadership: { isLeading: boolean; epoch: number; mayBegin: (deadlineMs: number) => boolean };
  /** What it counted, by name: `received`, `refused forged`, `answered grant`. */
  counts: Map<string, number>;
  /** `PATCH path`, in order. */
  writes: string[];
  socket: DatagramSocket;
  /** As `nodefence status` shows them. */
  problems: string[];
  lead: () => void;
  close: () => Promise<void>;
}

export interface ReplicaOptions {
  isLeading?: boolean;
  topologyKeys?: string[];
  /** What fast detection asks; absent: nobody is suspected. */
  around?: { sources: (leases: Lister<Lease>) => NonNullable<NodeDaemonDependencies['fast']> };
}

/** The daemons of the nodes as they are, the controllers as they are, an API server, a network in memory, and one clock. */
export class ControllerWorld extends DaemonWorld {
  readonly server: ApiServer;
  readonly operator: Cluster;
  /** Every datagram that was sent, and from where to where. */
  readonly sent: { from: string; to: string; datagram: Datagram; bytes: Uint8Array }[] = [];
  /** `object type reason message`, in order. */
  readonly events: string[] = [];
  /** What the configuration says of the daemons' times. */
  writtenTimes: WrittenTimes = {};
  /** What comes from the disk, which takes the time of the real world: the clock of this one stands still meanwhile. */
  readonly #loads = new Set<Promise<unknown>>();
  #epoch = 0;
  #keys = 0;

  private constructor(users: readonly { name: string; groups: string[] }[]) {
    super();
    const all = [{ name: 'admin', groups: ['system:masters'] }, ...users];
    this.server = new ApiServer({ clock: this.clock, random: testRandom(), users: all, authorization: 'rbac' });
    this.operator = new ApiClient({ transport: inProcessTransport(this.server, 'admin') });
  }

  static async create(users: readonly { name: string; groups: string[] }[] = []): Promise<ControllerWorld> {
    const world = new ControllerWorld(users);
    await install({ transport: inProcessTransport(world.server, 'admin'), cluster: world.operator });
    return world;
  }

  override socket(owner: string, address: string): DatagramSocket {
    const socket = super.socket(owner, address);
    const send = (to: string, bytes: Uint8Array): void => {
      const datagram = decode(bytes);
      if (datagram === undefined) throw new Error('no datagram was sent');
      this.sent.push({ from: owner, to, datagram, bytes: Uint8Array.from(bytes) });
      socket.send(to, bytes);
    };
    return { ...socket, send };
  }

  override cluster(owner: string): Cluster {
    return new ApiClient({ transport: this.#wire(owner, []) });
  }

  /** No time passes here until this has come from the disk, however busy the machine is. */
  awaits<T>(load: Promise<T>): Promise<T> {
    const isOver = (): boolean => this.#loads.delete(load);
    this.#loads.add(load);
    load.then(isOver, isOver);
    return load;
  }

  override async run(ms: number, stepMs = 100): Promise<void> {
    for (let over = 0; over < ms; over += stepMs) {
      await super.run(stepMs, stepMs);
      await Promise.allSettled(this.#loads);
      this.server.tick();
    }
  }

  /** A machine with its Node. */
  async add(name: string, labels: Record<string, string> = {}, change: Partial<MachineOptions> = {}): Promise<MachineModel> {
    const machine = this.machine(name, { ...change, options: { namespace: NAMESPACE, times: {}, ...change.options } });
    await this.operator.create(NODES, { metadata: { name, labels }, spec: {}, status: {} });
    await this.operator.mergePatch(NODES, name, { status: { nodeInfo: { bootID: machine.bootID } } }, { subresource: 'status' });
    return machine;
  }

  async lease(node: string): Promise<Lease> {
    const found = await this.operator.get(LEASES, attestationName(node), NAMESPACE);
    if (found === undefined) throw new Error(`${node} attests nothing`);
    return found;
  }

  async attestation(node: string): Promise<Attestation | undefined> {
    return parseAttestation(await this.lease(node));
  }

  async told(node: string): Promise<PeersTold | undefined> {
    return parsePeers(await this.lease(node));
  }

  async ended(node: string): Promise<GrantsEnded | undefined> {
    return parseGrantsEnded(await this.lease(node));
  }

  async report(node: string): Promise<NodeFenceReport | undefined> {
    return this.operator.get(NODE_FENCE_REPORTS, node);
  }

  /** A Lease by hand, without a daemon behind it. */
  async attest(node: string, attestation: Partial<Attestation>): Promise<void> {
    const bootID = `00000000-0000-4000-8000-${'0'.repeat(12)}`;
    const whole = { bootID, systemUUID: '1e2d3c4b', peers: [], publicKey: keyOf(node), address: `${node}:7411`, ...attestation };
    const metadata = { name: attestationName(node), namespace: NAMESPACE, annotations: { [ATTESTATION]: JSON.stringify(whole) } };
    await this.operator.create(LEASES, { metadata, spec: {} });
  }

  replica(name: string, { isLeading = true, topologyKeys = [ZONE], around }: ReplicaOptions = {}): Replica {
    const writes: string[] = [];
    const transport = this.#wire(name, writes);
    const base = { transport, clock: this.clock, random: testRandom(), logger: QUIET, metrics: NO_METRICS.watch };
    const reflectors: { start: () => void; close: () => void }[] = [];
    const watch = <T extends KubeObject>(resource: Resource<T>, namespace?: string) => {
      const reflector = new Reflector<T>({ ...base, resource, ...(namespace === undefined ? {} : { namespace }) });
      reflectors.push(reflector);
      return reflector.lister;
    };
    const leadership = { isLeading, epoch: isLeading ? (this.#epoch += 1) : 0, mayBegin: () => leadership.isLeading };
    const { counts, metrics } = counting();
    const socket = this.socket(name, `${name}:7411`);
    const replica = { problems: [] as string[] };
    const controller = new NodeDaemonController({
      ...{ clock: this.clock, cluster: new ApiClient({ transport }), log: QUIET, metrics, leadership, socket, keyPairs: this.#keyPairs() },
      recorder: { event: ({ metadata }, type, reason, message) => void this.events.push(`${metadata.name} ${type} ${reason} ${message}`) },
      listers: {
        nodes: watch(NODES),
        reports: watch(NODE_FENCE_REPORTS),
        leases: watch(LEASES, NAMESPACE),
        configMaps: watch(CONFIG_MAPS, NAMESPACE),
      },
      writtenTimes: () => this.writtenTimes,
      ...(around === undefined ? {} : { fast: around.sources(watch(LEASES, NODE_LEASE_NAMESPACE)) }),
      tellProblems: (words) => void (replica.problems = [...words]),
      options: { namespace: NAMESPACE, replica: name, replicasLease: 'nodefence-candidates', topologyKeys },
    });
    for (const reflector of reflectors) reflector.start();
    controller.start();
    return Object.assign(replica, {
      ...{ controller, leadership, counts, writes, socket },
      lead: () => {
        this.#epoch += 1;
        Object.assign(leadership, { isLeading: true, epoch: this.#epoch });
        controller.wake();
      },
      close: async () => {
        leadership.isLeading = false;
        const closing = controller.close();
        await this.clock.advance(10);
        await closing;
        for (const reflector of reflectors) reflector.close();
      },
    });
  }

  /** The world has no need of secrets: the text of a key pair is its name. */
  #keyPairs(): ExchangeKeyPairs {
    return {
      generate: () => {
        this.#keys += 1;
        return `key-${this.#keys}`;
      },
      load: (text) => {
        if (!text.startsWith('key-')) throw new TypeError('this is no private key');
        return { publicKey: keyOf(text), macWith: (other) => macOf(keyOf(text), other) };
      },
    };
  }

  #wire(owner: string, writes: string[]): ApiTransport {
    const transport = inProcessTransport(this.server, 'admin');
    const mustReach = (): void => {
      if (this.cut.has(`${owner}>api`)) throw new TransportError('timeout', 'the API server does not answer');
    };
    return {
      request: async ({ beforeSend, ...request }) => {
        beforeSend?.();
        if (request.method !== 'GET') writes.push(`${request.method} ${request.path}`);
        mustReach();
        const answer = await transport.request(request);
        mustReach();
        return answer;
      },
      watch: (request, sink) => transport.watch(request, sink),
    };
  }
}

function counting(): { counts: Map<string, number>; metrics: NodeDaemonMetrics } {
  const counts = new Map<string, number>();
  const add = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);
  const metrics: NodeDaemonMetrics = {
    received: () => add('received'),
    refused: (reason) => add(`refused ${reason}`),
    answered: (answer) => add(`answered ${answer}`),
    ordered: (action, result, reason) => add(['ordered', action, result, reason].filter((word) => word !== undefined).join(' ')),
    daemons: (daemons) => {
      for (const [state, count] of Object.entries(daemons)) counts.set(state, count);
    },
    suspected: (suspected) => {
      for (const [verdict, count] of Object.entries(suspected)) counts.set(`silence ${verdict}`, count);
    },
    acted: (kind, result) => add(`${kind} ${result}`),
    problems: (count) => counts.set('problems', count),
  };
  return { counts, metrics };
}
