import { clusterAgents, createRegistry } from '../../agents/registry.ts';
import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { ControllerEvent } from '../../src/drill/laws/trace.ts';
import type { ControllerProgram } from './controller-program.ts';
import { simulatedDefinition } from './devices.ts';
import type { SimulatedDevice } from './devices.ts';
import { FaultyTransport } from './faulty-transport.ts';
import type { Kernel } from './kernel/kernel.ts';
import { Port } from './kernel/port.ts';
import type { CrashPoint } from './kernel/port.ts';
import type { SimulatedProcess } from './kernel/simulated-process.ts';
import type { Network } from './network.ts';

export interface ControllersOptions {
  kernel: Kernel;
  program: ControllerProgram;
  api: ApiTransport;
  network: Network;
  devices: ReadonlyMap<string, SimulatedDevice>;
  restartAfterMs: number;
  /** Strikes the first process that runs when `arm` is called. */
  crash: CrashPoint | undefined;
  record: (event: ControllerEvent) => void;
  log: (line: string) => void;
}

/** The Deployment of the controller: keeps each replica running, with a new process and a new identity after every death. */
export class Controllers {
  readonly #options: ControllersOptions;
  readonly #running = new Map<number, SimulatedProcess>();
  #started = 0;
  #isArmed = false;
  #wasStruck = false;

  constructor(options: ControllersOptions) {
    this.#options = options;
  }

  start(replica: number): void {
    const { kernel, network, devices, program, api, log } = this.#options;
    this.#started += 1;
    const process = kernel.spawn(`nodefence-${replica}-${this.#started}`);
    this.#running.set(replica, process);
    const port = new Port(process, {
      pointFor: () => (this.#isArmed && replica === 0 ? this.#options.crash : undefined),
      onCrash: (point, label) => {
        this.#isArmed = false;
        this.#wasStruck = true;
        log(`${process.name} is struck ${point.moment} at ${label}`);
        if (point.moment === 'stopped') {
          this.#paused(process, point.stopMs);
        } else {
          this.#died(replica, process);
        }
      },
    });
    this.#record(process, 'start');
    program({
      identity: process.name,
      transport: new FaultyTransport(api, port, network),
      clock: process.clock,
      random: process.random,
      registry: createRegistry([...clusterAgents, simulatedDefinition(devices, port)]),
      exit: (reason) => {
        log(`${process.name} exits: ${reason}`);
        process.crash();
        this.#died(replica, process);
      },
      log: (line) => {
        log(`${process.name} ${line}`);
      },
    });
  }

  /** The crash point was reached. */
  get wasStruck(): boolean {
    return this.#wasStruck;
  }

  /** From now on the crash point counts the calls of replica 0. */
  arm(): void {
    this.#isArmed = true;
  }

  /** The processes that live now. */
  get processes(): readonly SimulatedProcess[] {
    return [...this.#running.values()];
  }

  pause(replica: number, kind: 'stop' | 'suspend', durationMs: number): void {
    const process = this.#running.get(replica);
    if (process === undefined) {
      return;
    }
    if (kind === 'suspend') {
      process.suspend(durationMs);
    } else {
      process.stop();
      this.#options.kernel.schedule(durationMs, () => {
        process.resume();
      });
    }
    this.#paused(process, durationMs);
  }

  #paused(process: SimulatedProcess, durationMs: number): void {
    this.#record(process, 'pause');
    this.#options.kernel.schedule(durationMs, () => {
      if (!process.isDead) {
        this.#record(process, 'resume');
      }
    });
  }

  #died(replica: number, process: SimulatedProcess): void {
    this.#record(process, 'crash');
    this.#running.delete(replica);
    this.#options.kernel.schedule(this.#options.restartAfterMs, () => {
      this.start(replica);
    });
  }

  #record(process: SimulatedProcess, what: ControllerEvent['what']): void {
    this.#options.record({ kind: 'controller', at: 0, id: process.name, what });
  }
}
