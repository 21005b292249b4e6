import { HostMachines } from '../../../src/testbed/operators/host-machines.ts';
import { fenceName } from '../../../src/domain/node-fence.ts';
import type { ApiEvent, DeviceEvent } from '../../../src/laws/trace.ts';
import type { Trace } from '../../../src/testbed/cluster/dependencies.ts';
import type { ApiTransport } from '../../../src/ports/api-transport.ts';
import { CLUSTER_API_USER, CONTROLLER_USER } from '../api.ts';
import type { SimulatedApi } from '../api.ts';
import type { SimulatedDevice } from '../../../src/testbed/simulation/devices.ts';
import type { FenceWatch } from '../fence-watch.ts';
import type { Hardware } from '../hardware.ts';
import type { Kernel } from '../../../src/testbed/simulation/kernel.ts';
import { WORLD_BEGINS_WALL_MS } from '../../../src/testbed/simulation/process-clock.ts';
import type { SimulatedProcess } from '../../../src/testbed/simulation/simulated-process.ts';
import { BareMetal } from './bare-metal.ts';
import { Deeds } from './deeds.ts';
import { HostsLeft } from './hosts-left.ts';
import { installSecondaries } from './installed.ts';
import { Kept } from './kept.ts';
import { MachineDriver } from './machine-driver.ts';
import { Requests } from './requests.ts';
import type { SecondaryControllers } from './secondary-controllers.ts';

/** Where nothing proves the machine off, its Machine stays for a person. */
const ENDLESS: ReadonlySet<string | undefined> = new Set(['error', 'running', 'new']);

export interface SecondariesOptions {
  kernel: Kernel;
  api: SimulatedApi;
  nodes: readonly string[];
  hardware: Hardware;
  secondaries: SecondaryControllers | undefined;
  /** Clocks jump: nobody can tell what a controller takes for the end of a time. */
  hasJumps: boolean;
  /** By which part of the time that has passed two clocks may have drifted apart. */
  drift: number;
  /** True power of the machine of a node. */
  power: (node: string) => 'on' | 'off' | undefined;
  /** For how long it is on by somebody who is no controller, while nothing on it runs yet. */
  restoredForMs: (node: string) => number | undefined;
  fence: FenceWatch;
  deviceOf: (node: string) => SimulatedDevice | undefined;
  isReady: (node: string) => boolean;
  trace: Trace;
  insider: (name: string, user: string) => [SimulatedProcess, ApiTransport];
}

/** What there is in a world for the controllers beside the one that fences: their kinds and objects, whoever works with these, and whoever asks for something. */
export class SecondariesOfWorld {
  readonly #options: SecondariesOptions;
  readonly #deeds: Deeds;
  readonly #requests: Requests;
  readonly #driver: MachineDriver;
  readonly #kept: Kept | undefined;
  readonly #metal: BareMetal | undefined;
  readonly #left: HostsLeft | undefined;

  constructor(options: SecondariesOptions) {
    this.#options = options;
    const { kernel, api } = options;
    const { hardware } = options;
    const wallMs = (): number => WORLD_BEGINS_WALL_MS + kernel.nowMs;
    this.#deeds = new Deeds({ kernel, admin: api.admin, wallMs, switchOn: (node) => hardware.switchOn(node) });
    this.#requests = new Requests(() => kernel.nowMs);
    this.#driver = new MachineDriver({ kernel, admin: api.admin, hardware });
    const { power, restoredForMs, fence, secondaries, hasJumps, drift } = options;
    const isOurs = (user: string): boolean => user === CONTROLLER_USER;
    const incident = (node: string): number => fence.of(fenceName(node))?.incident ?? 0;
    const truth = { nowMs: () => kernel.nowMs, wallMs, power, restoredForMs, isOurs, incident, hasJumps, drift };
    this.#kept = secondaries?.pool === undefined ? undefined : new Kept(truth);
    const hosts = secondaries?.hosts;
    if (hosts === undefined) return;
    this.#metal = new BareMetal({ ...options, admin: api.admin, hosts });
    this.#left = new HostsLeft(hosts, options.isReady);
  }

  /** Without time passing. */
  async install(): Promise<void> {
    const { api, nodes, secondaries } = this.#options;
    if (secondaries === undefined) return;
    await installSecondaries({ admin: api.admin, transport: api.transportFor('admin'), nodes, wallMs: WORLD_BEGINS_WALL_MS }, secondaries);
  }

  start(): void {
    const { secondaries, insider, trace } = this.#options;
    if (secondaries === undefined) return;
    const [process, transport] = insider('cluster-api', CLUSTER_API_USER);
    new HostMachines({ transport, clock: process.clock, random: process.random, trace }).start();
    this.#deeds.schedule(secondaries.deeds);
    this.#metal?.start();
  }

  /** Returns what is broken, in words. */
  hear(event: ApiEvent): string | undefined {
    if (this.#options.secondaries === undefined) return undefined;
    // Without the controller they are nobody's.
    if (this.#options.secondaries.composed.remediation) this.#requests.hear(event);
    this.#deeds.hear(event);
    this.#driver.hear(event);
    this.#left?.hear(event);
    return this.#kept?.hear(event);
  }

  /** A device was asked something. Returns what is broken, in words. */
  asked(event: DeviceEvent): string | undefined {
    return this.#kept?.asked(event);
  }

  get isPending(): boolean {
    return this.#deeds.isPending || this.#metal?.isPending === true || this.#options.hardware.isPending;
  }

  /** Its Machine has ended, and no Node has come in the place of the one that went with it. */
  hasEnded(node: string): boolean {
    return this.#driver.hasEnded(node);
  }

  /** Requests of which more is to be expected, each in words. */
  openRequests(): string[] {
    const { fence, nodes, isReady } = this.#options;
    // A node that is back is drained first, for two hours where a budget permits nothing because others are down.
    const areDown = nodes.some((node) => !isReady(node));
    const isDrained = (node: string): boolean => areDown && isReady(node);
    const ending = (this.#kept?.terminating() ?? []).filter((node) => !ENDLESS.has(fence.of(fenceName(node))?.state) && !isDrained(node));
    return [...this.#requests.open(), ...(this.#left?.open() ?? []), ...ending.map((node) => `the Machine of ${node} is to end, and has not`)];
  }
}
