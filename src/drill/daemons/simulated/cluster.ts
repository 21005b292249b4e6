import type { NodeFenceStatus } from '../../../domain/node-fence.ts';
import { ApiClient } from '../../../kube/client.ts';
import type { TraceEvent } from '../../../laws/trace.ts';
import type { ApiTransport } from '../../../ports/api-transport.ts';
import { CONFIG_MAPS, NODES as NODE_KIND, PODS, SECRETS } from '../../../ports/resources.ts';
import { ApiServer } from '../../../testbed/apiserver/server.ts';
import { inProcessTransport } from '../../../testbed/apiserver/transport.ts';
import { ClusterControllers } from '../../../testbed/cluster/cluster-controllers.ts';
import { MemoryDisk } from '../../../testbed/cluster/disk.ts';
import { SHORT_CLUSTER } from '../../../testbed/cluster/options.ts';
import { createScene, DEFAULT_SCENE } from '../../../testbed/cluster/scene.ts';
import { sendShipped } from '../../../testbed/shipped/send.ts';
import { Datagrams } from '../../../testbed/simulation/datagrams.ts';
import type { SimulatedDevice } from '../../../testbed/simulation/devices.ts';
import { Kernel } from '../../../testbed/simulation/kernel.ts';
import { controllerKeyPairs, PRIVATE_KEY_TEXT } from '../../../testbed/simulation/keys.ts';
import { CALM_API, EVERYONE, Network } from '../../../testbed/simulation/network.ts';
import { Port } from '../../../testbed/simulation/port.ts';
import { WORLD_BEGINS_WALL_MS } from '../../../testbed/simulation/process-clock.ts';
import type { SimulatedProcess } from '../../../testbed/simulation/simulated-process.ts';
import { CONTROLLER_USER } from '../../run/cluster-session.ts';
import { install } from '../../run/installation.ts';
import { isSettled, readyNodes } from '../../run/readiness.ts';
import { API, CLUSTER_CONTROLLERS, CONTROLLERS, DAEMON_USER, EVERYBODY, NODES, NOT_SERVED, OPERATOR, SHIPPED, usersOfDrill } from '../cast.ts';
import { nodeGraceMs, watchdogConfiguration } from '../configuration.ts';
import { lastStatus } from '../fence-trace.ts';
import { isKept } from '../played.ts';
import type { DaemonFencing, PlayedCluster } from '../played.ts';
import { RACKS } from '../times.ts';
import { BMC_PASSWORD, bmcConfiguration, simulatedBmc } from './bmc.ts';
import { startSimulatedController } from './controller.ts';
import { FaultyTransport } from './faulty-transport.ts';
import type { MachineTraits } from './daemon-machine.ts';
import { SimulatedNode } from './node.ts';

export interface SimulatedOptions {
  seed: number;
  fencing: DaemonFencing;
  storageLostMs: number | undefined;
  /** What is otherwise with its machines than it should be. */
  traits?: Partial<MachineTraits>;
}

const READY_MS = 90_000;
const SETTLED_MS = 90_000;
const LOOK_MS = 200;
const BOOKMARK_MS = 30_000;
const CALM_DATAGRAMS = { latencyMs: [0.2, 2], lostShare: 0, doubledShare: 0, lateShare: 0, lateMs: [0, 0] } as const;

/** The cluster of the drill in this process, on a virtual clock: the controllers, daemons and API server are the same code, the network and the machines are played. */
export class SimulatedCluster implements PlayedCluster {
  readonly names = EVERYBODY;
  readonly controllers: readonly string[] = CONTROLLERS;
  readonly nodeNames = NODES;
  readonly secrets = [BMC_PASSWORD, PRIVATE_KEY_TEXT];
  nodes: readonly SimulatedNode[] = [];
  readonly #options: SimulatedOptions;
  readonly #kernel: Kernel;
  readonly #network: Network;
  readonly #datagrams: Datagrams;
  readonly #server: ApiServer;
  readonly #trace: TraceEvent[] = [];
  readonly #texts = new Map<string, string[]>();
  readonly #disk = new MemoryDisk();
  readonly #bmcs = new Map<string, SimulatedDevice>();
  readonly #leaders = new Map<string, SimulatedProcess>();
  readonly #heals = new Map<string, () => void>();

  constructor(options: SimulatedOptions) {
    this.#options = options;
    const kernel = new Kernel({ seed: options.seed });
    this.#kernel = kernel;
    this.#network = new Network(kernel.random('network'), CALM_API);
    this.#datagrams = new Datagrams(kernel, kernel.random('datagrams'), CALM_DATAGRAMS);
    this.#server = new ApiServer({
      clock: kernel.spawn(API).clock,
      random: kernel.random(API),
      users: usersOfDrill((user) => `token of ${user}`),
      authorization: 'rbac',
      audit: (event) => this.#record(event),
    });
  }

  now(): number {
    return WORLD_BEGINS_WALL_MS + this.#kernel.nowMs;
  }

  /** The world goes on until then, and stands still afterwards. */
  async pause(ms: number): Promise<void> {
    const kernel = this.#kernel;
    let isOver = false;
    kernel.schedule(ms, () => {
      isOver = true;
    });
    await kernel.run({ untilMs: kernel.nowMs + ms, isOver: () => isOver });
    if (kernel.failures.length > 0) throw new Error(`the simulated world failed: ${kernel.failures.join('; ')}`);
  }

  traces(): readonly TraceEvent[] {
    return this.#trace;
  }

  audit(): readonly TraceEvent[] {
    return this.#trace;
  }

  texts(): Record<string, string> {
    return Object.fromEntries([...this.#texts].map(([name, lines]) => [`log of ${name}`, lines.join('\n')]));
  }

  fence(node: string): NodeFenceStatus | undefined {
    return lastStatus(this.#trace, node);
  }

  async start(tell: (line: string) => void): Promise<void> {
    tell('starting the API server, and the controllers of the cluster');
    const transport = inProcessTransport(this.#server, OPERATOR);
    const admin = new ApiClient({ transport });
    await install({ transport, cluster: admin }, () => sendShipped(transport, SHIPPED, NOT_SERVED));
    this.#repeat(BOOKMARK_MS, () => this.#server.tick());
    this.#startClusterControllers();
    tell(
      `starting ${String(CONTROLLERS.length)} × nodefence controller --node-daemons, and ${String(NODES.length)} machines with nodefence node --self-fence`,
    );
    this.nodes = NODES.map((name, index) => this.#node(name, index, tell));
    await this.#configure(admin);
    const keyPairs = controllerKeyPairs();
    for (const name of CONTROLLERS) this.#startController(name, keyPairs);
    for (const { machine } of this.nodes) machine.powerOn('start');
    await this.#until('every node to be Ready', SETTLED_MS, async () => {
      const items = await admin.list(NODE_KIND);
      return readyNodes({ nodes: { all: () => items } }) === NODES.length;
    });
    await createScene(admin, { ...DEFAULT_SCENE, replicas: NODES.length });
    await this.settled();
    await this.#until('every node to be kept up', READY_MS, async () => {
      const statuses = await Promise.all(this.nodes.map((node) => node.status()));
      return this.nodes.every((node, index) => isKept(statuses[index], NODES.length) && node.isWatchdogActive);
    });
  }

  async settled(): Promise<void> {
    const admin = new ApiClient({ transport: inProcessTransport(this.#server, OPERATOR) });
    await this.#until('running pods on healthy nodes', SETTLED_MS, async () => {
      const items = await admin.list(PODS);
      return isSettled({ pods: { all: () => items } }, NODES.length);
    });
  }

  cut(one: string, other: string): void {
    const heal = this.#datagrams.cut((from, to) => (from === one && to === other) || (from === other && to === one));
    this.#heals.set(`${one} ${other}`, heal);
    if (other === API) this.#network.break(one, 'cut');
  }

  heal(one: string, other: string): void {
    this.#heals.get(`${one} ${other}`)?.();
    if (other === API) this.#network.heal(one, 'cut');
  }

  cutPower(name: string): void {
    this.#nodeNamed(name).machine.powerOff('panic');
  }

  endControlPlane(): void {
    for (const process of this.#leaders.values()) process.crash();
    this.#network.break(EVERYONE, 'refused');
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  #nodeNamed(name: string): SimulatedNode {
    const node = this.nodes.find((one) => one.name === name);
    if (node === undefined) throw new Error(`no node ${name}`);
    return node;
  }

  #node(name: string, index: number, tell: (line: string) => void): SimulatedNode {
    const kernel = this.#kernel;
    const systemUUID = kernel.random(`uuid ${name}`).uuid();
    const node = new SimulatedNode(name, {
      ...{ kernel, datagrams: this.#datagrams, disk: this.#disk, rack: RACKS[index] ?? '', systemUUID, tell },
      kubelet: (process) => this.#way(`system:node:${name}`, process, name),
      daemon: (process) => this.#way(DAEMON_USER, process, name),
      now: () => this.now(),
      pause: (ms) => this.pause(ms),
      record: (event) => this.#record(event),
      onLine: (line) => this.#hear(name, line),
      storageLostMs: this.#options.storageLostMs,
      traits: this.#options.traits ?? {},
    });
    if (this.#options.fencing === 'bmc') {
      const bmc = simulatedBmc({ kernel, node, systemUUID, record: (event) => this.#record(event) });
      this.#bmcs.set(bmc.address, bmc);
    }
    return node;
  }

  async #configure(admin: ApiClient): Promise<void> {
    if (this.#options.fencing !== 'bmc') {
      for (const map of watchdogConfiguration(NODES, this.#options.fencing === 'watchdog')) await admin.create(CONFIG_MAPS, map);
      return;
    }
    const { configMaps, secret } = bmcConfiguration(NODES);
    await admin.create(SECRETS, secret);
    for (const map of configMaps) await admin.create(CONFIG_MAPS, map);
  }

  #startClusterControllers(): void {
    const process = this.#kernel.spawn('cluster-controllers');
    const transport = this.#way(CLUSTER_CONTROLLERS, process, 'cluster-controllers');
    const options = { ...SHORT_CLUSTER, nodeGraceMs: nodeGraceMs(this.#options.fencing) };
    new ClusterControllers({ transport, clock: process.clock, random: process.random, trace: (event) => this.#record(event) }, options).start();
  }

  #startController(name: string, keyPairs: ReturnType<typeof controllerKeyPairs>): void {
    const process = this.#kernel.spawn(name);
    this.#leaders.set(name, process);
    this.#record({ kind: 'controller', at: 0, id: name, what: 'start' });
    startSimulatedController({
      ...{ process, keyPairs, bmcs: this.#bmcs },
      transport: this.#way(CONTROLLER_USER, process, name),
      socket: this.#datagrams.socket(name, process),
      onLine: (line) => this.#hear(name, line),
      exit: (reason) => {
        this.#hear(name, `exits: ${reason}`);
        process.crash();
        this.#record({ kind: 'controller', at: 0, id: name, what: 'crash' });
      },
    });
  }

  /** To the API server, as the network lets it. */
  #way(user: string, process: SimulatedProcess, host: string): ApiTransport {
    return new FaultyTransport(inProcessTransport(this.#server, user, user), new Port(process), this.#network, host);
  }

  #hear(name: string, line: string): void {
    const lines = this.#texts.get(name) ?? [];
    lines.push(line);
    this.#texts.set(name, lines);
  }

  /** All by one clock. */
  #record(event: TraceEvent): void {
    this.#trace.push({ ...event, at: this.now() });
  }

  #repeat(periodMs: number, task: () => void): void {
    this.#kernel.schedule(periodMs, () => {
      task();
      this.#repeat(periodMs, task);
    });
  }

  async #until(what: string, deadlineMs: number, isSo: () => Promise<boolean>): Promise<void> {
    const endsAtMs = this.now() + deadlineMs;
    while (!(await isSo())) {
      if (this.now() > endsAtMs) throw new Error(`after ${String(deadlineMs / 1_000)} s still waiting for ${what}:\n${this.#lastWords()}`);
      await this.pause(LOOK_MS);
    }
  }

  #lastWords(): string {
    return [...this.#texts].map(([name, lines]) => `${name}: ${lines.slice(-2).join('\n  ')}`).join('\n');
  }
}
