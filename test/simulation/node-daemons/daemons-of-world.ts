import type { ApiTransport } from '../../../src/ports/api-transport.ts';
import type { NodeEvent, PowerEvent } from '../../../src/laws/trace.ts';
import type { Machine } from '../../../src/testbed/cluster/machine.ts';
import { controllerKeyPairs } from '../../../src/testbed/simulation/keys.ts';
import type { ControllerWorld } from '../controller-program.ts';
import { FaultyTransport } from '../../../src/drill/daemons/simulated/faulty-transport.ts';
import type { Hardware } from '../hardware.ts';
import type { Kernel } from '../../../src/testbed/simulation/kernel.ts';
import { Port } from '../../../src/testbed/simulation/port.ts';
import type { SimulatedProcess } from '../../../src/testbed/simulation/simulated-process.ts';
import { FENCE_NAMESPACE } from '../configuration.ts';
import { EVERYONE } from '../../../src/testbed/simulation/network.ts';
import type { Network } from '../../../src/testbed/simulation/network.ts';
import { DaemonMachine } from '../../../src/drill/daemons/simulated/daemon-machine.ts';
import { Datagrams } from '../../../src/testbed/simulation/datagrams.ts';
import type { DaemonDeed, DaemonTimes, NodeDaemons, Place } from './node-daemons.ts';
import { Survival } from './survival.ts';

const REPAIRED_AFTER_MS = 400_000;

export interface DaemonsOptions {
  kernel: Kernel;
  daemons: NodeDaemons;
  machines: ReadonlyMap<string, Machine>;
  /** Each machine as a process, by node. */
  hosts: ReadonlyMap<string, SimulatedProcess>;
  systemUUID: (node: string) => string;
  clockRate: number;
  /** To the API server, by which every daemon is known. */
  api: ApiTransport;
  /** Between controllers and the API server. */
  network: Network;
  /** Between everything else and the API server. */
  inside: Network;
  hardware: Pick<Hardware, 'fail' | 'reset'>;
  /** Somebody writes other times into the configuration of the cluster. */
  changeTimes: (times: DaemonTimes) => Promise<unknown>;
}

/** The daemons of all nodes, what happens to them, and whether nodes go down when they must and stay up when they must. */
export class DaemonsOfWorld {
  readonly #options: DaemonsOptions;
  readonly #datagrams: Datagrams;
  readonly #machines = new Map<string, DaemonMachine>();
  readonly #survival: Survival;
  readonly #keyPairs = controllerKeyPairs();
  #pending = 0;

  constructor(options: DaemonsOptions) {
    this.#options = options;
    const { kernel, daemons, machines, hosts, systemUUID, clockRate, api, inside } = options;
    const datagrams = new Datagrams(kernel, kernel.random('datagrams'), daemons.datagrams);
    this.#datagrams = datagrams;
    for (const [node, machine] of machines) {
      const host = hosts.get(node);
      const traits = daemons.machines[node];
      if (host === undefined || traits === undefined) throw new Error(`node ${node} has no machine`);
      const transport = (process: SimulatedProcess): ApiTransport => new FaultyTransport(api, new Port(process), inside, host.name);
      const daemon = { namespace: FENCE_NAMESPACE, times: {}, systemUUID: systemUUID(node) };
      this.#machines.set(node, new DaemonMachine({ kernel, machine, host, daemon, clockRate, traits, datagrams, transport }));
    }
    this.#survival = new Survival({ kernel, daemons, isArmed: (node) => this.#machines.get(node)?.isArmed === true });
  }

  /** How often machines reset themselves. */
  get resets(): number {
    return this.#survival.resets;
  }

  /** Something that was begun is not over. */
  get isPending(): boolean {
    return this.#pending > 0;
  }

  /** What a controller process hears the daemons by. */
  servedBy(host: string, process: SimulatedProcess): NonNullable<ControllerWorld['nodeDaemons']> {
    return {
      socket: this.#datagrams.socket(host, process),
      keyPairs: this.#keyPairs,
      topologyKeys: this.#options.daemons.topologyKeys,
    };
  }

  /** Something happened to a machine. */
  saw(event: NodeEvent | PowerEvent): void {
    const machine = this.#machines.get(event.node);
    if (event.kind === 'node' && event.what === 'boot') machine?.booted(event.bootID ?? '');
    if (event.kind === 'node' && event.what === 'panic') machine?.panicked();
    if (event.kind === 'power' && (event.state === 'off' || event.cause === 'reset')) machine?.ended();
    if (event.kind === 'power' && event.cause === 'reset') this.#repairStuck(event.node);
    this.#survival.saw(event);
  }

  schedule(): void {
    const { kernel, daemons } = this.#options;
    for (const deed of daemons.deeds) {
      kernel.schedule(deed.atMs, () => {
        kernel.trace(`deed ${JSON.stringify(deed)}`);
        const end = this.#begin(deed);
        this.#survival.began(deed);
        this.#pending += 1;
        kernel.schedule(deed.durationMs, () => {
          this.#pending -= 1;
          kernel.trace(`the end of ${deed.what}`);
          this.#survival.ended(deed);
          end();
        });
      });
    }
  }

  #begin(deed: DaemonDeed): () => void {
    if (deed.what === 'outage') return this.#outage();
    if (deed.what === 'change-times') {
      void this.#options.changeTimes(deed.times);
      return () => undefined;
    }
    const machine = this.#machines.get(deed.node);
    if (machine === undefined) throw new Error(`there is no node ${deed.node}`);
    switch (deed.what) {
      case 'cut':
        return this.#cut(machine, deed);
      case 'link':
        return this.#link(machine.host, `machine-${deed.to}`, deed.way);
      case 'kill':
        return machine.kill();
      case 'pause':
        return machine.pause();
      case 'wedge':
        return machine.wedge();
      case 'upgrade':
        return machine.upgrade();
      case 'freeze':
        return machine.freeze();
      case 'power-loss':
        return this.#options.hardware.fail(deed.node, 'unplugged');
      case 'slow-disk':
        machine.slowDiskMs = 8_000;
        return () => {
          machine.slowDiskMs = 0;
        };
      case 'vm-pause':
        machine.pauseMachine(deed.kind, deed.durationMs);
        return () => undefined;
      case 'jump':
        machine.jump(deed.byMs);
        return () => undefined;
    }
  }

  #cut({ host }: DaemonMachine, { places, way }: Extract<DaemonDeed, { what: 'cut' }>): () => void {
    const { inside } = this.#options;
    const isThere = (other: string): boolean => places.includes(placeOf(other));
    const heal = this.#datagrams.cut((from, to) => (way !== 'in' && from === host && isThere(to)) || (way !== 'out' && to === host && isThere(from)));
    if (!places.includes('api-server')) return heal;
    const breakage = way === 'in' ? 'mute' : 'cut';
    inside.break(host, breakage);
    return () => {
      heal();
      inside.heal(host, breakage);
    };
  }

  #link(one: string, other: string, way: 'both' | 'in' | 'out'): () => void {
    return this.#datagrams.cut((from, to) => (way !== 'in' && from === one && to === other) || (way !== 'out' && from === other && to === one));
  }

  #outage(): () => void {
    const { network, inside } = this.#options;
    const heal = this.#datagrams.cut((from, to) => placeOf(from) === 'controllers' || placeOf(to) === 'controllers');
    for (const way of [network, inside]) way.break(EVERYONE, 'cut');
    return () => {
      heal();
      for (const way of [network, inside]) way.heal(EVERYONE, 'cut');
    };
  }

  /** Somebody comes in the end to a machine that does not get beyond its firmware. */
  #repairStuck(node: string): void {
    const { kernel, daemons, hardware } = this.#options;
    if (daemons.machines[node]?.isStuckAfterReset !== true) return;
    this.#pending += 1;
    kernel.schedule(REPAIRED_AFTER_MS, () => {
      this.#pending -= 1;
      hardware.reset(node);
    });
  }
}

function placeOf(host: string): Place {
  return host.startsWith('machine-') ? 'peers' : 'controllers';
}
