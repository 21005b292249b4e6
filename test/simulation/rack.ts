import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { DeviceEvent } from '../../src/laws/trace.ts';
import type { Trace } from '../../src/testbed/cluster/dependencies.ts';
import type { Disk } from '../../src/testbed/cluster/disk.ts';
import { fleetLabels } from '../../src/testbed/operators/fleet.ts';
import { hostProviderID } from '../../src/testbed/operators/host-fleet.ts';
import { Machine } from '../../src/testbed/cluster/machine.ts';
import { KUBERNETES_KUBELET } from '../../src/testbed/cluster/options.ts';
import { SimulatedDevice } from '../../src/testbed/simulation/devices.ts';
import type { PowerBackend } from '../../src/testbed/simulation/devices.ts';
import type { Kernel } from '../../src/testbed/simulation/kernel.ts';
import type { SimulatedProcess } from '../../src/testbed/simulation/simulated-process.ts';
import { addressOf } from './dumps/dumps.ts';
import { PowerFeed } from './power-feed.ts';
import { rackOf } from './racks.ts';
import type { Scenario } from './scenario.ts';
import { pathNames, STORAGE } from './ways/ways.ts';

const BOOT_MS = 8_000;
const WRITE_MS = 4_000;

export interface RackOptions {
  scenario: Scenario;
  kernel: Kernel;
  disk: Disk;
  trace: Trace;
  /** A process of the world with its way to the API server. */
  insider: (name: string, user: string, clockRate: number) => [SimulatedProcess, ApiTransport];
  onDevice: (event: DeviceEvent) => void;
}

/** All machines of a world with their BMCs and outlets. */
export class Rack {
  readonly machines: ReadonlyMap<string, Machine>;
  /** By the address under which each is reached now. */
  readonly devices: Map<string, SimulatedDevice>;
  readonly kubelets: readonly SimulatedProcess[];
  readonly #feeds: ReadonlyMap<string, PowerFeed>;
  /** Paths to the storage that are closed, by node. */
  readonly #closed = new Map<string, Set<string>>();
  readonly #options: RackOptions;

  constructor(options: RackOptions) {
    this.#options = options;
    const machines = new Map<string, Machine>();
    const feeds = new Map<string, PowerFeed>();
    const kubelets: SimulatedProcess[] = [];
    this.machines = machines;
    this.devices = new Map();
    this.#feeds = feeds;
    this.kubelets = kubelets;
    for (const [index, node] of options.scenario.nodes.entries()) {
      const [process, transport] = options.insider(`machine-${node}`, `system:node:${node}`, options.scenario.clockRates.kubelets);
      kubelets.push(process);
      const { secondaries } = options.scenario;
      const isPooled = secondaries?.pool !== undefined && secondaries.nodes.includes(node);
      const machine = new Machine(
        { transport, clock: process.clock, random: process.random, trace: options.trace, disk: this.#reached(options.disk) },
        {
          ...KUBERNETES_KUBELET,
          writeMs: WRITE_MS,
          node,
          systemUUID: systemUUIDOf(node),
          ...(secondaries !== undefined && { providerID: hostProviderID(node) }),
          ...(options.scenario.dumps !== undefined && { address: addressOf(options.scenario.nodes, node) }),
          bootDelayMs: BOOT_MS,
          labels: { rack: rackOf(index), 'topology.kubernetes.io/zone': rackOf(index), ...(isPooled && fleetLabels(rackOf(index))) },
        },
      );
      const feed = new PowerFeed(machine, options.scenario.feed?.restore ?? 'always-on');
      machines.set(node, machine);
      feeds.set(node, feed);
      this.#mount(node, feed);
      this.#lay(node);
    }
  }

  /** It has no path to the storage left. */
  isShutOut(node: string): boolean {
    const count = this.#options.scenario.ways?.storage?.count;
    return count !== undefined && this.#closed.get(node)?.size === count;
  }

  /** The failed node's devices answer, or do not, as its scenario says; `undefined` for a node of another world. */
  bmcOf(node: string): SimulatedDevice | undefined {
    return [...this.devices.values()].find(({ options }) => options.name === `bmc-${node}`);
  }

  /** The machine as a process. */
  hostOf(node: string): SimulatedProcess {
    const host = this.kubelets.find(({ name }) => name === `machine-${node}`);
    if (host === undefined) throw new Error(`there is no machine of node ${node}`);
    return host;
  }

  /** When any device of a node was last read. */
  readAtMs(node: string): number {
    return Math.max(...this.#devicesOf(node).map(({ readAtMs }) => readAtMs));
  }

  /** Any device of a node has accepted a set whose effect is still to come. */
  isSwitching(node: string): boolean {
    return this.#devicesOf(node).some((device) => device.isPending);
  }

  feedOf(node: string): PowerFeed | undefined {
    return this.#feeds.get(node);
  }

  /** The addresses of two nodes' BMCs lead to each other's from now on. */
  swap(left: string, right: string): void {
    const [one, other] = [this.devices.get(`bmc-${left}`), this.devices.get(`bmc-${right}`)];
    if (one === undefined || other === undefined) return;
    for (const [device, address] of [
      [one, other.address],
      [other, one.address],
    ] as const) {
      this.devices.set(address, device);
      device.address = address;
    }
  }

  /** An effect of some device is still to come. */
  get isPending(): boolean {
    return [...this.devices.values()].some((device) => device.isPending);
  }

  #devicesOf(node: string): SimulatedDevice[] {
    return [...this.devices.values()].filter(({ options }) => options.node === node);
  }

  #reached(disk: Disk): Disk {
    return { last: (volume) => disk.last(volume), write: (record) => !this.isShutOut(record.node) && disk.write(record) };
  }

  /** The paths of a node to its storage. */
  #lay(node: string): void {
    const { victim, ways } = this.#options.scenario;
    const closed = new Set<string>();
    this.#closed.set(node, closed);
    for (const [index, name] of pathNames(node, ways?.storage?.count ?? 0).entries()) {
      const backend: PowerBackend = {
        state: () => (closed.has(name) ? 'off' : 'on'),
        on: () => void closed.delete(name),
        off: () => void closed.add(name),
      };
      const behaviour = node === victim && index === 0 ? (ways?.storage?.behaviour ?? 'honest') : 'honest';
      this.#add(node, name, backend, behaviour, undefined, STORAGE);
    }
  }

  #mount(node: string, feed: PowerFeed): void {
    const { feed: fed, victim, device } = this.#options.scenario;
    const own = node === victim ? device : 'honest';
    const isBoardOwn = fed?.kind !== 'supplies' && fed?.kind !== 'outlets-first';
    this.#add(node, `bmc-${node}`, feed.board(), isBoardOwn ? own : 'honest', feed);
    if (fed === undefined) return;
    this.#add(node, `outlet-1-${node}`, feed.outlet('1'), isBoardOwn ? 'honest' : own);
    if (fed.kind !== 'level') this.#add(node, `outlet-2-${node}`, feed.outlet('2'), 'honest');
  }

  #add(node: string, name: string, backend: PowerBackend, behaviour: SimulatedDevice['behaviour'], feed?: PowerFeed, storage?: string): void {
    const { scenario, kernel, onDevice } = this.#options;
    const isVictims = node === scenario.victim;
    this.devices.set(
      name,
      new SimulatedDevice({
        name,
        node,
        ...(scenario.ways?.areUnnamed !== true && { systemUUID: systemUUIDOf(node) }),
        behaviour,
        backend,
        random: kernel.random(name.startsWith('bmc-') ? `device ${node}` : `device ${name}`),
        effectMs: isVictims ? scenario.deviceEffectMs : [50, 500],
        now: () => kernel.nowMs,
        schedule: (delayMs, task) => {
          kernel.schedule(delayMs, task);
        },
        record: onDevice,
        ...(storage !== undefined && { storage }),
        ...(feed === undefined ? {} : { hasMains: () => feed.hasMains() }),
      }),
    );
  }
}

export function systemUUIDOf(node: string): string {
  return `4c4c4544-0000-4000-8000-${node.charCodeAt(0).toString(16).padStart(12, '0')}`;
}
