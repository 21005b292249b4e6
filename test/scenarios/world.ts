import { ApiServer } from '../../src/testbed/apiserver/server.ts';
import { inProcessTransport } from '../../src/testbed/apiserver/transport.ts';
import { install } from '../../src/drill/run/installation.ts';
import { ClusterControllers } from '../../src/testbed/cluster/cluster-controllers.ts';
import { MemoryDisk } from '../../src/testbed/cluster/disk.ts';
import { Machine } from '../../src/testbed/cluster/machine.ts';
import { KUBERNETES_CLUSTER } from '../../src/testbed/cluster/options.ts';
import { createScene, DEFAULT_SCENE } from '../../src/testbed/cluster/scene.ts';
import { ApiClient } from '../../src/kube/client.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import { NODES, PODS } from '../../src/ports/resources.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { newUuid, startBmc } from './bmc.ts';
import type { BmcOddities, ScenarioBmc } from './bmc.ts';
import { PACE } from './settings.ts';
import { until } from './waiting.ts';
import { CONTROLLER_GROUPS, CONTROLLER_USER, Witness } from './witness.ts';

const MANAGER = 'system:kube-controller-manager';
const TICK_MS = 1_000;

interface Member {
  uuid: string;
  machine: Machine;
  bmc: ScenarioBmc;
  second: ScenarioBmc | undefined;
}

export interface WorldOptions {
  nodes: readonly string[];
  login: { username: string; password: string };
  bmcs: Readonly<Record<string, BmcOddities>>;
  /** Nodes with a second BMC, as a blade with one for each power supply. */
  secondBmcs: Readonly<Record<string, BmcOddities>>;
  /** From power on to the kubelet's first request. */
  bootDelayMs: number;
  /** From the last sign of life to Ready=Unknown. */
  nodeGraceMs: number;
  /** Of nodes in a cloud, as their kubelets register them. */
  instances?: Readonly<Record<string, { providerID: string; address: string; systemUUID: string }>> | undefined;
  /** Absent: the real one. */
  clock?: Clock | undefined;
}

/** A Kubernetes cluster in this process, on the real clock or the one that it is given: API server with the shipped roles, kubelets, machines, BMCs, a StatefulSet that writes. */
export class World {
  readonly witness = new Witness();
  readonly clock: Clock;
  readonly random = new SystemRandom();
  readonly server: ApiServer;
  /** As the operator, who may do anything. */
  readonly transport: ApiTransport;
  readonly cluster: Cluster;
  readonly #disk = new MemoryDisk();
  readonly #members = new Map<string, Member>();
  readonly #controllers: ClusterControllers;
  readonly #ticker: NodeJS.Timeout;

  private constructor({ nodes, nodeGraceMs, clock = new SystemClock() }: WorldOptions, tokens: Readonly<Record<string, string>>) {
    this.clock = clock;
    const masters = ['operator', MANAGER, ...nodes.map((node) => `system:node:${node}`)];
    const known = [...masters.map((name) => ({ name, groups: ['system:masters'] })), { name: CONTROLLER_USER, groups: CONTROLLER_GROUPS }];
    const people = Object.keys(tokens).filter((name) => !known.some((user) => user.name === name));
    const users = [...known, ...people.map((name) => ({ name, groups: [] }))];
    this.server = new ApiServer({
      clock: this.clock,
      random: this.random,
      users: users.map((user) => (tokens[user.name] === undefined ? user : { ...user, token: tokens[user.name] ?? '' })),
      authorization: 'rbac',
      tracksManagers: true,
      audit: this.witness.record,
    });
    this.transport = inProcessTransport(this.server, 'operator');
    this.cluster = new ApiClient({ transport: this.transport });
    this.#controllers = new ClusterControllers(this.#dependencies(MANAGER), { ...KUBERNETES_CLUSTER, ...PACE.cluster, nodeGraceMs });
    this.#ticker = setInterval(() => this.server.tick(), TICK_MS);
  }

  /** Whoever has a token and is no other user is a person without any right. Manifests installed, every machine up, one pod of the workload running on each. */
  static async start(options: WorldOptions, tokens: Readonly<Record<string, string>> = {}): Promise<World> {
    const world = new World(options, tokens);
    await install({ transport: world.transport, cluster: world.cluster });
    world.#controllers.start();
    for (const node of options.nodes) await world.#add(node, options);
    await until('all nodes are Ready', () => world.#areReady(options.nodes));
    await createScene(world.cluster, { ...DEFAULT_SCENE, replicas: options.nodes.length });
    await until('a pod writes on each node', () => world.#isWriting(options.nodes));
    return world;
  }

  get bmcs(): { node: string; host: string; port: number }[] {
    return [...this.#members].map(([node, { bmc }]) => ({ node, host: bmc.server.host, port: bmc.server.port }));
  }

  machine(node: string): Machine {
    return this.#member(node).machine;
  }

  bmc(node: string): ScenarioBmc {
    return this.#member(node).bmc;
  }

  secondBmc(node: string): ScenarioBmc {
    const { second } = this.#member(node);
    if (second === undefined) throw new Error(`node ${node} has one BMC`);
    return second;
  }

  uuid(node: string): string {
    return this.#member(node).uuid;
  }

  /** Names of the pods that are bound to this node. */
  async podsOn(node: string): Promise<string[]> {
    const pods = await this.cluster.list(PODS, { fieldSelector: `spec.nodeName=${node}` });
    return pods.map((pod) => pod.metadata.name);
  }

  async end(): Promise<void> {
    clearInterval(this.#ticker);
    this.#controllers.stop();
    for (const { machine, bmc, second } of this.#members.values()) {
      machine.powerOff('start');
      await bmc.server.close();
      await second?.server.close();
    }
  }

  async #add(node: string, { login, bmcs, secondBmcs, bootDelayMs, instances }: WorldOptions): Promise<void> {
    const instance = instances?.[node];
    const uuid = instance?.systemUUID ?? newUuid();
    const machine = new Machine(
      { ...this.#dependencies(`system:node:${node}`), disk: this.#disk },
      { ...PACE.kubelet, ...instance, node, systemUUID: uuid, bootDelayMs },
    );
    const behind = { uuid, machine };
    const seen = { clock: this.clock, trace: this.witness.record };
    const bmc = await startBmc(node, behind, login, seen, bmcs[node]);
    const odd = secondBmcs[node];
    const second = odd === undefined ? undefined : await startBmc(node, behind, login, seen, odd);
    this.#members.set(node, { uuid, machine, bmc, second });
    machine.powerOn('start');
  }

  #dependencies(user: string): ConstructorParameters<typeof ClusterControllers>[0] {
    return { transport: inProcessTransport(this.server, user), clock: this.clock, random: this.random, trace: this.witness.record };
  }

  #member(node: string): Member {
    const member = this.#members.get(node);
    if (member === undefined) throw new Error(`no node ${node}`);
    return member;
  }

  async #areReady(nodes: readonly string[]): Promise<true | undefined> {
    const known = await this.cluster.list(NODES);
    const ready = known.filter((node) => node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true);
    return nodes.every((name) => ready.some((node) => node.metadata.name === name)) ? true : undefined;
  }

  async #isWriting(nodes: readonly string[]): Promise<true | undefined> {
    const writers = new Set(this.witness.trace.flatMap((event) => (event.kind === 'disk' ? [event.node] : [])));
    return nodes.every((node) => writers.has(node)) ? true : undefined;
  }
}
