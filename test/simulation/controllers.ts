import { KdumpAgent } from '../../agents/kdump/agent.ts';
import { kdump } from '../../agents/kdump/definition.ts';
import { clusterAgents, createRegistry } from '../../agents/registry.ts';
import { WatchdogAgent } from '../../agents/watchdog/agent.ts';
import { watchdog } from '../../agents/watchdog/definition.ts';
import type { AgentDefinition } from '../../src/ports/agents.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { ControllerEvent } from '../../src/laws/trace.ts';
import type { ControllerProgram, ControllerWorld, RunningController, ToldEvent } from './controller-program.ts';
import { simulatedDefinition } from '../../src/testbed/simulation/device-agent.ts';
import type { SimulatedDevice } from '../../src/testbed/simulation/devices.ts';
import { FaultyTransport } from '../../src/drill/daemons/simulated/faulty-transport.ts';
import type { Guards } from './guards.ts';
import type { Kernel } from '../../src/testbed/simulation/kernel.ts';
import { CrashCounter, Port } from '../../src/testbed/simulation/port.ts';
import type { CrashPoint } from '../../src/testbed/simulation/port.ts';
import type { SimulatedProcess } from '../../src/testbed/simulation/simulated-process.ts';
import type { Network } from '../../src/testbed/simulation/network.ts';
import type { Composed } from './secondary-controllers/secondary-controllers.ts';

export type Replica = 0 | 1;

export interface ControllersOptions {
  kernel: Kernel;
  program: ControllerProgram;
  api: ApiTransport;
  network: Network;
  devices: ReadonlyMap<string, SimulatedDevice>;
  /** From a death to the new process. */
  restartAfterMs: number;
  /** Somebody takes the NodeFence of the failed node away by force, and no watch of the controllers tells for so long. */
  removeFence: (unheardMs: number) => void;
  /** How fast the clock of each replica's machine runs. */
  clockRates: readonly number[];
  /** The nodes on which the replicas run. */
  hosts: readonly [string, string] | undefined;
  /** What is to become of the machines besides. */
  guards: Guards;
  /** The controllers beside the one that fences; absent: none. */
  secondaries: Composed | undefined;
  /** Remedies are served. */
  hasRemedies: boolean;
  /** Nodes that are worked on at once; absent: several. */
  slots: number | undefined;
  /** Where a process hears the daemons of nodes; absent: there are none. */
  nodeDaemons: ((host: string, process: SimulatedProcess) => NonNullable<ControllerWorld['nodeDaemons']>) | undefined;
  /** Where a process hears the messages of crash kernels; absent: it does not. */
  kdump: ((host: string, process: SimulatedProcess) => NonNullable<ControllerWorld['kdump']>) | undefined;
  /** What else a process may call; absent: nothing. */
  ways: ((port: Port) => readonly AgentDefinition[]) | undefined;
  /** Has the machine of a node power? */
  isPowered: (node: string) => boolean;
  /** One after the other: each counts the calls of all replicas from the moment at which the one before has struck. */
  crashes: readonly CrashPoint[];
  record: (event: ControllerEvent) => void;
  log: (line: string) => void;
  /** What processes say in their logs and Events. */
  says: (process: string, event: ToldEvent | string) => void;
  /** Told before each request takes effect: whose it is. */
  speaking: (process: string) => void;
}

interface Running {
  process: SimulatedProcess;
  controller: RunningController;
}

/** As the daemon gives itself, and as Kubernetes gives it before it kills. */
const STOP_DEADLINE_MS = 5_000;
const TERMINATION_GRACE_MS = 30_000;

/** As it is, but loaded already: loading takes time of the real world. */
const WATCHDOG: AgentDefinition = { ...watchdog, create: (context) => Promise.resolve(new WatchdogAgent(context)) };
const KDUMP: AgentDefinition = { ...kdump, create: (context) => Promise.resolve(new KdumpAgent(context)) };

/** The Deployment of the controller: keeps each replica running, with a new process and a new identity after every death. */
export class Controllers {
  readonly #options: ControllersOptions;
  readonly #running = new Map<Replica, Running>();
  readonly #crashes: CrashPoint[];
  #counter: CrashCounter | undefined;
  #started = 0;
  #struck = 0;
  #calls = 0;
  #isArmed = false;

  constructor(options: ControllersOptions) {
    this.#options = options;
    this.#crashes = [...options.crashes];
  }

  start(replica: Replica): void {
    const { kernel, network, devices, program, api, log, says, clockRates, speaking } = this.#options;
    this.#started += 1;
    const process = kernel.spawn(`nodefence-${replica}-${this.#started}`, clockRates[replica]);
    const port = new Port(process, {
      strike: (tags) => {
        this.#calls += this.#isArmed ? 1 : 0;
        return this.#counter?.strike(tags);
      },
      onCrash: (point, label) => {
        log(`${process.name} is struck ${point.moment} at ${label}`);
        this.#struck += 1;
        this.arm();
        this.#strike(replica, process, point);
      },
    });
    const announced: ApiTransport = {
      request: (request) => {
        speaking(process.name);
        return api.request(request);
      },
      watch: (request, sink) => api.watch(request, sink),
    };
    this.#record(process, 'start');
    const controller = program({
      identity: process.name,
      ownNode: this.#options.hosts?.[replica],
      preservation: this.#options.guards.for(process),
      secondaries: this.#options.secondaries,
      hasRemedies: this.#options.hasRemedies,
      slots: this.#options.slots,
      nodeDaemons: this.#options.nodeDaemons?.(hostOf(replica), process),
      kdump: this.#options.kdump?.(hostOf(replica), process),
      transport: new FaultyTransport(announced, port, network, hostOf(replica)),
      clock: process.clock,
      random: process.random,
      registry: createRegistry([
        ...clusterAgents,
        ...(this.#options.nodeDaemons === undefined ? [] : [WATCHDOG]),
        ...(this.#options.kdump === undefined ? [] : [KDUMP]),
        simulatedDefinition(devices, port),
        ...(this.#options.ways?.(port) ?? []),
      ]),
      exit: (reason) => {
        log(`${process.name} exits: ${reason}`);
        this.#ended(replica, process, 'crash');
      },
      log: (line) => {
        log(`${process.name} ${line}`);
        says(process.name, line);
      },
      event: (event) => {
        says(process.name, event);
      },
    });
    this.#running.set(replica, { process, controller });
  }

  /** How many crash points were reached. */
  get struck(): number {
    return this.#struck;
  }

  /** Calls since the first crash point began to count. */
  get calls(): number {
    return this.#calls;
  }

  /** From now on the next crash point counts calls. */
  arm(): void {
    this.#isArmed = true;
    const point = this.#crashes.shift();
    this.#counter = point === undefined ? undefined : new CrashCounter(point);
  }

  /** The processes that live now. */
  get processes(): readonly SimulatedProcess[] {
    return [...this.#running.values()].map(({ process }) => process);
  }

  /** The replica whose process has this name, if it lives. */
  replicaOf(name: string): Replica | undefined {
    return [...this.#running].find(([, { process }]) => process.name === name)?.[0];
  }

  pause(replica: Replica, kind: 'stop' | 'suspend', durationMs: number): void {
    const process = this.#running.get(replica)?.process;
    if (process !== undefined) {
      this.#pause(process, kind, durationMs);
    }
  }

  /** SIGTERM; SIGKILL when it has not ended by the end of its grace. */
  terminate(replica: Replica): void {
    const running = this.#running.get(replica);
    if (running === undefined) {
      return;
    }
    const { process, controller } = running;
    const ended = (): void => {
      this.#ended(replica, process, 'stop');
    };
    process.deliverAfter(0, () => {
      controller.stop(STOP_DEADLINE_MS).then(ended, ended);
    });
    this.#options.kernel.schedule(TERMINATION_GRACE_MS, () => {
      this.#ended(replica, process, 'crash');
    });
  }

  /** The power of a node went: so did what ran there. */
  powerLost(node: string): void {
    for (const [replica, { process }] of [...this.#running]) {
      if (this.#options.hosts?.[replica] === node) this.#ended(replica, process, 'crash');
    }
  }

  /** The node on which a process runs that lives, or lived last of its replica. */
  hostOfProcess(name: string): string | undefined {
    const { hosts } = this.#options;
    return name.startsWith(`${hostOf(0)}-`) ? hosts?.[0] : hosts?.[1];
  }

  #strike(replica: Replica, process: SimulatedProcess, point: CrashPoint): void {
    switch (point.moment) {
      case 'stopped':
        this.#pause(process, 'stop', point.stopMs);
        break;
      case 'suspended':
        this.#pause(process, 'suspend', point.stopMs);
        break;
      case 'terminated':
        this.terminate(replica);
        break;
      case 'fence-removed':
        this.#options.removeFence(point.stopMs);
        break;
      default:
        this.#died(replica, process, 'crash');
    }
  }

  #pause(process: SimulatedProcess, kind: 'stop' | 'suspend', durationMs: number): void {
    this.#record(process, 'pause');
    if (kind === 'suspend') {
      process.suspend(durationMs);
    } else {
      process.stop();
    }
    this.#options.kernel.schedule(durationMs, () => {
      if (kind === 'stop') {
        process.resume();
      }
      if (!process.isDead) {
        this.#record(process, 'resume');
      }
    });
  }

  #ended(replica: Replica, process: SimulatedProcess, how: 'stop' | 'crash'): void {
    if (!process.isDead) {
      process.crash();
      this.#died(replica, process, how);
    }
  }

  #died(replica: Replica, process: SimulatedProcess, how: 'stop' | 'crash'): void {
    this.#record(process, how);
    this.#running.delete(replica);
    this.#restart(replica);
  }

  /** Not before its machine has power again. */
  #restart(replica: Replica): void {
    const { kernel, restartAfterMs, hosts, isPowered } = this.#options;
    const host = hosts?.[replica];
    kernel.schedule(restartAfterMs, () => {
      if (host === undefined || isPowered(host)) this.start(replica);
      else this.#restart(replica);
    });
  }

  /** The clocks on the wall of these processes are set; whoever comes after them has the right time. */
  setClocks(processes: readonly SimulatedProcess[], byMs: number): void {
    for (const process of processes) {
      process.jumpWallClock(byMs);
      this.#record(process, 'clock-set');
    }
  }

  #record(process: SimulatedProcess, what: ControllerEvent['what']): void {
    this.#options.record({ kind: 'controller', at: 0, id: process.name, what });
  }
}

/** The network's name for the machine on which a replica runs. */
export function hostOf(replica: Replica): string {
  return `nodefence-${replica}`;
}
