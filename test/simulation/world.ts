import { fenceName } from '../../src/domain/node-fence.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { Node } from '../../src/ports/objects.ts';
import type { ApiEvent, DeviceEvent } from '../../src/drill/laws/trace.ts';
import { ClusterControllers } from '../../src/drill/world/cluster-controllers.ts';
import type { Trace } from '../../src/drill/world/dependencies.ts';
import { MemoryDisk } from '../../src/drill/world/disk.ts';
import { Machine } from '../../src/drill/world/machine.ts';
import { KUBERNETES_CLUSTER, KUBERNETES_KUBELET } from '../../src/drill/world/options.ts';
import { CONTROLLER_USER, SimulatedApi } from './api.ts';
import { createFenceConfiguration } from './configuration.ts';
import type { ControllerProgram } from './controller-program.ts';
import { Controllers } from './controllers.ts';
import { SimulatedDevice } from './devices.ts';
import { Disturbances } from './disturbances.ts';
import { FaultyTransport } from './faulty-transport.ts';
import { FenceWatch } from './fence-watch.ts';
import type { Kernel } from './kernel/kernel.ts';
import { Port } from './kernel/port.ts';
import type { SimulatedProcess } from './kernel/simulated-process.ts';
import { CALM_API, Network } from './network.ts';
import { disturbedUntilMs, flapsEndMs } from './scenario.ts';
import type { Scenario } from './scenario.ts';
import { releasedNode, WorldTrace } from './world-trace.ts';

/** Nothing was written to any fence for so long: it has come to rest. */
const REST_MS = 25_000;
/** A node that is Ready brings its fence out of error: after the longest back-off of a recovery that failed, and the delay of health. */
const HEALS_BY_ITSELF_MS = 120_000;
/** A flap that ended so long ago without a fence needs none. */
const UNNOTICED_MS = 60_000;
const BOOT_MS = 8_000;
const WORKLOAD_AT_MS = 10_000;
const WRITE_MS = 4_000;
/** Two renewals of a kubelet and a half: what Kubernetes waits, without its reserve. */
const NODE_GRACE_MS = 25_000;
const BOOKMARK_MS = 30_000;
/** Calm water inside the cluster: faults strike the controllers' side, what the cluster does by itself is given. */
const INSIDE: typeof CALM_API = { ...CALM_API, latencyMs: [0.2, 1] };

/** A whole cluster with its machines, devices and controllers on one kernel. */
export class World {
  readonly trace: WorldTrace;
  readonly api: SimulatedApi;
  readonly fence: FenceWatch;
  readonly machines: ReadonlyMap<string, Machine>;
  readonly #scenario: Scenario;
  readonly #disturbedUntilMs: number;
  readonly #flapsEndMs: number;
  readonly #kernel: Kernel;
  readonly #controllers: Controllers;
  readonly #network: Network;
  readonly #inside: Network;
  readonly #disk: MemoryDisk;
  readonly #devices: ReadonlyMap<string, SimulatedDevice>;
  readonly #kubelets: SimulatedProcess[] = [];
  /** The controller process whose request is being answered. */
  #caller = '';
  #releases = 0;
  #isVictimReady = false;
  #isHealing = false;

  constructor(scenario: Scenario, kernel: Kernel, program: ControllerProgram) {
    this.#scenario = scenario;
    this.#disturbedUntilMs = disturbedUntilMs(scenario);
    this.#flapsEndMs = flapsEndMs(scenario);
    this.#kernel = kernel;
    this.#disk = new MemoryDisk();
    const machines = new Map<string, Machine>();
    this.machines = machines;
    this.trace = new WorldTrace(kernel, {
      power: (node) => machines.get(node)?.state,
      isController: (user) => user === CONTROLLER_USER,
      caller: () => this.#caller,
      isSound: (node) => node !== scenario.victim,
    });
    this.fence = new FenceWatch(() => kernel.nowMs);
    this.api = new SimulatedApi(kernel, scenario.nodes, (event) => {
      this.#heard(event);
    });
    this.#inside = new Network(kernel.random('network inside'), INSIDE);
    this.#network = new Network(kernel.random('network'), scenario.api);
    const devices = new Map<string, SimulatedDevice>();
    this.#devices = devices;
    for (const node of scenario.nodes) {
      const machine = this.#createMachine(node);
      machines.set(node, machine);
      devices.set(`bmc-${node}`, this.#createDevice(node, machine));
    }
    this.#controllers = new Controllers({
      kernel,
      program,
      api: this.api.transportFor(CONTROLLER_USER),
      network: this.#network,
      devices,
      restartAfterMs: scenario.restartAfterMs,
      clockRates: scenario.clockRates.replicas,
      crashes: scenario.crashes,
      speaking: (process) => {
        this.#caller = process;
      },
      record: (event) => {
        this.trace.record(event);
      },
      log: (line) => {
        kernel.trace(line);
      },
    });
  }

  /** Builds the cluster, without time passing. */
  async begin(): Promise<void> {
    const { nodes, configuration } = this.#scenario;
    await this.api.install();
    await createFenceConfiguration(this.api.admin, nodes, configuration, !this.#scenario.isMisconfigured);
    const [process, transport] = this.#insider('cluster-controllers', 'system:kube-controller-manager');
    new ClusterControllers(
      { transport, clock: process.clock, random: process.random, trace: this.#record },
      { ...KUBERNETES_CLUSTER, nodeGraceMs: NODE_GRACE_MS },
    ).start();
    for (const machine of this.machines.values()) {
      machine.powerOn('start');
    }
    this.#controllers.start(0);
    if (this.#scenario.controllers === 2) {
      this.#controllers.start(1);
    }
    // Every node is Ready by then, so that every node gets its share.
    this.#kernel.schedule(WORKLOAD_AT_MS, () => {
      void this.api.createWorkload(this.replicas);
    });
    this.#repeat(BOOKMARK_MS, () => {
      this.api.tick();
    });
    this.#scheduleFaults();
  }

  /** Pods of the StatefulSet: as many as the nodes, so that the failed one has its share. */
  get replicas(): number {
    return this.#scenario.nodes.length;
  }

  /** The fence of the failed node has come to rest where it may rest, and nothing more is to be expected of it. */
  isOver(): boolean {
    const scenario = this.#scenario;
    const { fault, faultAtMs, victim, configuration, expected } = scenario;
    const nowMs = this.#kernel.nowMs;
    if (nowMs - this.fence.changedAtMs < REST_MS || nowMs < Math.max(faultAtMs, this.#disturbedUntilMs + REST_MS)) {
      return false;
    }
    // A new leader counts every delay from its own first sight.
    if (nowMs < this.trace.takeOvers.heldSinceMs + REST_MS) {
      return false;
    }
    if (fault === 'flap' && nowMs < this.#flapsEndMs + UNNOTICED_MS) {
      return false;
    }
    if (this.fence.names.some((name) => name !== fenceName(victim) && this.fence.of(name)?.state !== 'final')) {
      return false;
    }
    const status = this.fence.of(fenceName(victim));
    switch (status?.state) {
      case undefined:
        return expected.states.includes('none') && this.#isVictimReady && nowMs - this.fence.changedAtMs > UNNOTICED_MS;
      case 'final':
        return true;
      case 'error':
        return (
          status.restarts >= configuration.maxRestarts &&
          (!this.#isVictimReady || nowMs > Math.max(this.fence.changedAtMs, this.trace.takeOvers.heldSinceMs) + HEALS_BY_ITSELF_MS)
        );
      default:
        return false;
    }
  }

  /** How many crash points were reached. */
  get struck(): number {
    return this.#controllers.struck;
  }

  /** How often the controllers freed something of a node. */
  get releases(): number {
    return this.#releases;
  }

  readonly #record: Trace = (event) => {
    this.trace.record(event);
  };

  #heard(event: ApiEvent): void {
    this.trace.record(event);
    this.fence.hear(event);
    if (event.resource === 'nodes' && event.name === this.#scenario.victim && event.object !== undefined) {
      this.#isVictimReady = (event.object as Node).status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True';
    }
    if (event.user === CONTROLLER_USER && event.status < 300 && releasedNode(event) !== undefined) {
      this.#releases += 1;
    }
  }

  #scheduleFaults(): void {
    const { fault, victim, nodes, faultAtMs, faultsEndMs, disturbances } = this.#scenario;
    this.#kernel.schedule(faultAtMs, () => {
      this.trace.record({ kind: 'fault', at: 0, fault, node: victim });
      this.#controllers.arm();
      this.#strike();
    });
    new Disturbances({
      kernel: this.#kernel,
      admin: this.api.admin,
      controllers: this.#controllers,
      network: this.#network,
      inside: this.#inside,
      victim,
      other: nodes[1] ?? victim,
      device: this.#devices.get(`bmc-${victim}`),
      apiServer: this.api.process,
      kubelets: this.#kubelets,
      leader: () => this.trace.takeOvers.holder,
    }).schedule(disturbances);
    this.#kernel.schedule(faultsEndMs, () => {
      this.#network.faults = CALM_API;
    });
  }

  /** The network of the failed node goes and comes. */
  #flap(): void {
    const machine = this.machines.get(this.#scenario.victim);
    let atMs = 0;
    for (const { downMs, upMs } of this.#scenario.flaps) {
      this.#kernel.schedule(atMs, () => {
        machine?.partition();
      });
      atMs += downMs;
      this.#kernel.schedule(atMs, () => {
        this.#kernel.trace(`the network of ${this.#scenario.victim} is back`);
        machine?.heal();
      });
      atMs += upMs;
    }
  }

  /** The node comes back at the worst moment: between an accepted off and its effect. */
  #healAfterOff(event: DeviceEvent): void {
    const { healAfterOffMs, victim } = this.#scenario;
    if (healAfterOffMs === undefined || this.#isHealing || event.node !== victim || event.action !== 'set' || event.want !== 'off') {
      return;
    }
    this.#isHealing = true;
    this.#kernel.schedule(healAfterOffMs, () => {
      this.#kernel.trace(`the network of ${victim} is back while it is switched off`);
      this.machines.get(victim)?.heal();
    });
  }

  #strike(): void {
    if (this.machines.get(this.#scenario.victim)?.kubelet?.running.length === 0) {
      this.#kernel.fail('the world was not ready for its fault: no pod runs on the node that fails');
    }
    const machine = this.machines.get(this.#scenario.victim);
    switch (this.#scenario.fault) {
      case 'panic':
        machine?.panic();
        break;
      case 'hang':
        machine?.hang();
        break;
      case 'partition':
        machine?.partition();
        break;
      case 'flap':
        this.#flap();
        break;
    }
  }

  #createMachine(node: string): Machine {
    const [process, transport] = this.#insider(`machine-${node}`, `system:node:${node}`, this.#scenario.clockRates.kubelets);
    this.#kubelets.push(process);
    return new Machine(
      { transport, clock: process.clock, random: process.random, trace: this.#record, disk: this.#disk },
      { ...KUBERNETES_KUBELET, writeMs: WRITE_MS, node, systemUUID: systemUUIDOf(node), bootDelayMs: BOOT_MS },
    );
  }

  #createDevice(node: string, machine: Machine): SimulatedDevice {
    const { victim, device, deviceEffectMs } = this.#scenario;
    return new SimulatedDevice({
      name: `bmc-${node}`,
      node,
      systemUUID: systemUUIDOf(node),
      behaviour: node === victim ? device : 'honest',
      backend: {
        state: () => machine.state,
        on: (cause) => {
          machine.powerOn(cause);
        },
        off: () => {
          machine.powerOff('set');
        },
      },
      random: this.#kernel.random(`device ${node}`),
      effectMs: node === victim ? deviceEffectMs : [50, 500],
      now: () => this.#kernel.nowMs,
      schedule: (delayMs, task) => {
        this.#kernel.schedule(delayMs, task);
      },
      record: (event) => {
        this.trace.record(event);
        this.#healAfterOff(event);
      },
    });
  }

  #insider(name: string, user: string, clockRate = 1): [SimulatedProcess, ApiTransport] {
    const process = this.#kernel.spawn(name, clockRate);
    return [process, new FaultyTransport(this.api.transportFor(user), new Port(process), this.#inside)];
  }

  #repeat(periodMs: number, task: () => void): void {
    this.#kernel.schedule(periodMs, () => {
      task();
      this.#repeat(periodMs, task);
    });
  }
}

function systemUUIDOf(node: string): string {
  return `4c4c4544-0000-4000-8000-${node.charCodeAt(0).toString(16).padStart(12, '0')}`;
}
