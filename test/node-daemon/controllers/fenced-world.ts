import { standardRegistry } from '../../../agents/registry.ts';
import { LivePlanner } from '../../../src/config/live-planner.ts';
import { composeController } from '../../../src/manager/compose.ts';
import type { ComposedController } from '../../../src/manager/compose.ts';
import type { AgentDefinition, AgentRegistry, PowerAgent } from '../../../src/ports/agents.ts';
import { NO_METRICS } from '../../../src/ports/metrics.ts';
import type { ExchangeKeyPairs } from '../../../src/ports/node-daemon.ts';
import { CONFIG_MAPS, NODE_FENCES } from '../../../src/ports/resources.ts';
import type { NodeFence } from '../../../src/ports/resources.ts';
import { SystemRandom } from '../../../src/runtime/system-random.ts';
import { sendShipped } from '../../../src/testbed/shipped/send.ts';
import { inProcessTransport } from '../../../src/testbed/apiserver/transport.ts';
import { testRandom } from '../../../src/testbed/apiserver/test-support.ts';
import { ClusterControllers } from '../../../src/testbed/cluster/cluster-controllers.ts';
import { MemoryDisk } from '../../../src/testbed/cluster/disk.ts';
import { Machine } from '../../../src/testbed/cluster/machine.ts';
import { KUBERNETES_CLUSTER, KUBERNETES_KUBELET } from '../../../src/testbed/cluster/options.ts';
import { createScene, DEFAULT_SCENE } from '../../../src/testbed/cluster/scene.ts';
import { macOf, keyOf } from '../../../src/testbed/simulation/keys.ts';
import type { StorageModel } from '../model/storage.ts';
import type { MachineModel } from '../model/world.ts';
import { ControllerWorld, NAMESPACE } from './world.ts';

const quiet = (): void => undefined;
const CONTROLLER = 'system:serviceaccount:nodefence-system:nodefence-controller';
const MANAGER = 'system:kube-controller-manager';
const READ_MS = 50;
/** What else the daemon of one boot is given. */
export type DaemonExtras = (
  node: string,
  bootID: string,
  clock: ControllerWorld['clock'],
) => Partial<Pick<MachineModel['given'], 'checks' | 'slots' | 'options'>>;

/** As fence_kdump_send of Debian sends it. */
export const KDUMP_MESSAGE = Uint8Array.of(0x40, 0x2a, 0x30, 0x1b, 1, 0, 0, 0);

/** A cluster with kubelets, a workload that writes, a daemon and a BMC for each machine, and the whole controller: on one virtual clock, with the times of Kubernetes. */
export class FencedWorld {
  readonly world: ControllerWorld;
  readonly machines = new Map<string, Machine>();
  readonly events: { atMs: number; about: string; reason: string; message: string }[] = [];
  /** What BMCs were told. */
  readonly sets: string[] = [];
  /** Nodes whose BMC was read. */
  readonly reads: string[] = [];
  /** The agent has read what it must, and is about to send. */
  beforeSet: () => Promise<void> = () => Promise.resolve();
  /** Of nodes whose daemons put their registrations back. */
  readonly #storages: ReadonlyMap<string, StorageModel>;
  readonly #controllers: ComposedController[] = [];
  readonly #parts: readonly string[];
  readonly #extras: DaemonExtras;
  #hear: (bytes: Uint8Array, from: string) => void = quiet;

  private constructor(world: ControllerWorld, storages: ReadonlyMap<string, StorageModel>, parts: readonly string[], extras: DaemonExtras) {
    this.world = world;
    this.#storages = storages;
    this.#parts = parts;
    this.#extras = extras;
  }

  /** `parts`: further folders of config/ that are installed; `kdump`: messages of crash kernels are heard. */
  static async start(
    nodes: readonly string[],
    settings: string,
    storages: ReadonlyMap<string, StorageModel> = new Map(),
    parts: readonly string[] = [],
    extras: DaemonExtras = () => ({}),
  ): Promise<FencedWorld> {
    const users = [CONTROLLER].map((name) => ({ name, groups: ['system:serviceaccounts', 'system:authenticated'] }));
    const masters = [MANAGER, ...nodes.map((node) => `system:node:${node}`)].map((name) => ({ name, groups: ['system:masters'] }));
    const fenced = new FencedWorld(await ControllerWorld.create([...users, ...masters]), storages, parts, extras);
    await fenced.#begin(nodes, settings);
    return fenced;
  }

  get nowMs(): number {
    return this.world.clock.monotonicMs();
  }

  /** Its power goes. */
  die(node: string): void {
    this.machines.get(node)?.powerOff('start');
    this.world.machines.get(node)?.die('test');
  }

  /** Of the boot that the machine runs now. */
  async startDaemon(node: string): Promise<void> {
    const { bootID = '' } = this.machines.get(node) ?? {};
    const storage = this.#storages.get(node);
    const unfence = storage === undefined ? {} : { unfence: storage.ports };
    const extras = this.#extras(node, bootID, this.world.clock);
    const options = { namespace: NAMESPACE, bootID, ...extras.options };
    await this.world.machine(node, { hasWatchdog: false, ...unfence, ...extras, options }).daemon.start();
  }

  /** A datagram comes to the port of kdump messages. */
  message(from: string, bytes = KDUMP_MESSAGE): void {
    this.#hear(bytes, from);
  }

  async fence(node: string): Promise<NodeFence | undefined> {
    return this.world.operator.get(NODE_FENCES, `node-fence-${node}`);
  }

  /** How long until this holds; undefined: it does not within `withinMs`. */
  async after(withinMs: number, holds: () => Promise<boolean>): Promise<number | undefined> {
    for (let overMs = 0; overMs <= withinMs; overMs += 100) {
      if (await holds()) return overMs;
      await this.world.run(100);
    }
    return undefined;
  }

  /** The controller ends as it is told to, and another process follows it. */
  async restart(): Promise<void> {
    await this.#stop(100);
    this.#compose();
  }

  async end(): Promise<void> {
    await this.#stop(30_000);
  }

  async #stop(withinMs: number): Promise<void> {
    for (const controller of this.#controllers.splice(0)) {
      const stopped = controller.stop(1_000);
      for (let overMs = 0; overMs < withinMs; overMs += 10) await this.world.clock.advance(10);
      await stopped;
    }
  }

  async #begin(nodes: readonly string[], settings: string): Promise<void> {
    const { world } = this;
    await sendShipped(inProcessTransport(world.server, 'admin'), ['node-daemon-controller', ...this.#parts]);
    const grace = { 'config.properties': 'policy_name=startup-grace\nduration=0s\n' };
    await world.operator.create(CONFIG_MAPS, { metadata: { name: 'fence-policy-startup-grace', namespace: NAMESPACE }, data: grace });
    new ClusterControllers(this.#dependencies(MANAGER), KUBERNETES_CLUSTER).start();
    const disk = new MemoryDisk();
    for (const node of nodes) {
      const options = { ...KUBERNETES_KUBELET, node, systemUUID: `0000-${node}`, bootDelayMs: 1_000 };
      const machine = new Machine({ ...this.#dependencies(`system:node:${node}`), disk }, options);
      this.machines.set(node, machine);
      machine.powerOn('start');
      await this.#configure(node, settings);
    }
    await createScene(world.operator, { ...DEFAULT_SCENE, replicas: nodes.length });
    this.#compose();
    await world.run(40_000, 500);
    for (const node of this.machines.keys()) await this.startDaemon(node);
    await world.run(90_000, 500);
  }

  async #configure(node: string, settings: string): Promise<void> {
    const data = {
      'config.properties': `node_name=${node}\nisolation=cordon\n${settings.includes('power_management=') ? '' : 'power_management=bmc\n'}recovery=uncordon\n${settings}`,
      'fence-method-cordon': 'agent_name=cordon\naction=run\n',
      'fence-method-uncordon': 'agent_name=uncordon\naction=run\n',
      'fence-method-dump': 'agent_name=kdump\naction=run\n',
      'fence-method-bmc': `agent_name=model-bmc\naction=reboot\naddress=${node}\n`,
    };
    await this.world.operator.create(CONFIG_MAPS, { metadata: { name: `fence-config-${node}`, namespace: NAMESPACE }, data });
  }

  #compose(): void {
    const { world } = this;
    const controller = composeController(
      {
        ...{ transport: inProcessTransport(world.server, CONTROLLER), clock: world.clock, random: new SystemRandom(), metrics: NO_METRICS },
        registry: this.#registry(),
        logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
        recorder: {
          event: (about, _type, reason, message) => void this.events.push({ atMs: this.nowMs, about: about.metadata.name, reason, message }),
        },
        planner: (sources) => new LivePlanner({ ...sources, namespace: NAMESPACE }),
        exit: quiet,
        nodeDaemons: { socket: world.socket('controller', '192.0.2.1:7411'), keyPairs: modelKeyPairs(), topologyKeys: [] },
        ...(this.#parts.includes('kdump') ? { kdump: { socket: { receive: (handle) => void (this.#hear = handle), close: quiet } } } : {}),
      },
      {
        ...{ mode: 'enforce', ownNode: undefined, outOfService: true, staleAfterMs: 90_000, namespace: NAMESPACE, identity: 'controller' },
        ...{ concurrency: 4, syncDeadlineMs: 10_000, remedies: this.#parts.includes('remedies') },
      },
    );
    this.#controllers.push(controller);
    controller.start().catch(quiet);
  }

  #registry(): AgentRegistry {
    const standard = standardRegistry();
    const bmc = this.#bmc();
    // An agent is imported when it is made: hours of this world would pass over it on a busy machine.
    const loaded = (definition: AgentDefinition): AgentDefinition => ({
      ...definition,
      create: (context) => this.world.awaits(definition.create(context)),
    });
    const find = (name: string): AgentDefinition | undefined => {
      const definition = name === bmc.name ? bmc : standard.find(name);
      return definition === undefined ? undefined : loaded(definition);
    };
    return { find, names: () => [...standard.names(), bmc.name] };
  }

  /** Shows whose machine it switches, and takes a moment for each answer. */
  #bmc(): AgentDefinition {
    const { clock } = this.world;
    const machineOf = (address: string | undefined): Machine => {
      const machine = this.machines.get(address ?? '');
      if (machine === undefined) throw new Error(`no machine ${address ?? ''}`);
      return machine;
    };
    const agent: PowerAgent = {
      kind: 'power',
      read: async ({ parameters }) => {
        this.reads.push(parameters['address'] ?? '');
        await clock.sleep(READ_MS);
        return { state: machineOf(parameters['address']).state, detail: 'model', identity: 'verified' };
      },
      set: async (target, state) => {
        await this.beforeSet();
        await clock.sleep(READ_MS);
        target.beforeSend();
        const node = target.parameters['address'] ?? '';
        this.sets.push(`${state} ${node}`);
        if (state === 'on') machineOf(node).powerOn('start');
        else this.die(node);
        return { result: 'accepted', detail: 'model' };
      },
    };
    return {
      ...{ name: 'model-bmc', aliases: [], kind: 'power', actions: ['on', 'off', 'reboot'], deviceMaxLatencyMs: 10_000 },
      deviceKey: (parameters) => parameters['address'] ?? '',
      describe: () => [{ name: 'address', required: true, secret: false, description: 'Node.' }],
      check: () => [],
      create: () => Promise.resolve(agent),
    };
  }

  #dependencies(user: string): ConstructorParameters<typeof ClusterControllers>[0] {
    return { transport: inProcessTransport(this.world.server, user), clock: this.world.clock, random: testRandom(), trace: quiet };
  }
}

/** Keys of the model world: their text is their name. */
function modelKeyPairs(): ExchangeKeyPairs {
  return { generate: () => 'key-1', load: (text) => ({ publicKey: keyOf(text), macWith: (other) => macOf(keyOf(text), other) }) };
}
