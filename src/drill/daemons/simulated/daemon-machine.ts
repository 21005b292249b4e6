import { ApiClient } from '../../../kube/client.ts';
import { NodeDaemon } from '../../../node/core/daemon.ts';
import type { NodeDaemonOptions, NodeDaemonPorts, NodeDaemonStatus } from '../../../node/core/daemon.ts';
import type { ApiTransport } from '../../../ports/api-transport.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { NodeCheck } from '../../../ports/node-checks.ts';
import type { DaemonLog, KeepRecord, WatchdogDevice } from '../../../ports/node-daemon.ts';
import type { Machine } from '../../../testbed/cluster/machine.ts';
import { keyOf, macOf } from '../../../testbed/simulation/keys.ts';
import type { Kernel } from '../../../testbed/simulation/kernel.ts';
import type { SimulatedProcess } from '../../../testbed/simulation/simulated-process.ts';
import { BootClock } from '../../../testbed/simulation/boot-clock.ts';
import type { Datagrams } from '../../../testbed/simulation/datagrams.ts';
import { HardwareWatchdog } from '../../../testbed/simulation/hardware-watchdog.ts';

/** What differs from machine to machine. */
export interface MachineTraits {
  /** How long its watchdog waits; it is attested so. */
  watchdogMs: number;
  /** How fast the oscillator of the watchdog runs. */
  watchdogRate: number;
  /** A virtual machine: it may be paused, and says so. */
  isPausable: boolean;
  /** How long its pods take to stop; longer than anybody waits: they hang. */
  podStopMs: number;
  /** Does its kernel reset it when it is told to? Otherwise the watchdog does. */
  doesReset: boolean;
  /** After a reset by itself it stands still in its firmware until somebody comes. */
  isStuckAfterReset: boolean;
  /** How long what is synced to its disk takes. */
  syncMs: number;
}

export interface DaemonMachineOptions {
  kernel: Kernel;
  machine: Machine;
  /** The machine as a process: kubelet and pods run in it, and its clocks are the machine's. */
  host: SimulatedProcess;
  daemon: Pick<NodeDaemonOptions, 'namespace' | 'times' | 'systemUUID' | 'storageLostMs'>;
  /** What its daemon checks by itself; absent: nothing. */
  checks?: (clock: Clock) => readonly NodeCheck[];
  clockRate: number;
  traits: MachineTraits;
  datagrams: Datagrams;
  transport: (process: SimulatedProcess) => ApiTransport;
  /** Told when it is reset by its watchdog or its kernel, and when its daemon has stopped the pods. */
  sees?: { reset(cause: 'watchdog' | 'kernel', why: string): void; podsEnded(bootID: string): void };
  /** What its daemon says. */
  onLine?: (line: string) => void;
}

/** What ends with the boot: /run, and when its clocks began. */
interface Boot {
  bootID: string;
  begins: { monotonicMs: number; bootMs: number };
  key: string;
  record: KeepRecord | undefined;
}

interface Running {
  process: SimulatedProcess;
  daemon: NodeDaemon;
  clock: BootClock;
}

const STARTED_AFTER_MS = 1_500;
const OPENED_AFTER_MS = 120;
const RESET_AFTER_MS = 40;
const API_DEADLINE_MS = 5_000;
const WEDGED = 'a check of the simulation';
const NEVER_MS = Number.MAX_SAFE_INTEGER;

/** A machine with its watchdog, its disk and the daemon of its node, which something starts anew whenever it ends. */
export class DaemonMachine {
  readonly #options: DaemonMachineOptions;
  readonly #watchdog: HardwareWatchdog;
  /** Synced: it outlives everything. */
  #promises: ReadonlyMap<string, string> = new Map();
  #boot: Boot | undefined;
  #running: Running | undefined;
  #started = 0;
  #isHeldBack = false;
  #isFrozen = false;
  /** By which everything that is synced takes longer. */
  slowDiskMs = 0;

  constructor(options: DaemonMachineOptions) {
    this.#options = options;
    const { kernel, traits } = options;
    this.#watchdog = new HardwareWatchdog(kernel, traits.watchdogMs / traits.watchdogRate, () => this.#reset('watchdog', 'its watchdog was not fed'));
  }

  /** Undefined: no daemon runs, or it does not answer. */
  get status(): NodeDaemonStatus | undefined {
    return this.#running === undefined || this.#running.process.isStopped ? undefined : this.#running.daemon.status();
  }

  get isDaemonRunning(): boolean {
    return this.#running !== undefined;
  }

  get isArmed(): boolean {
    return this.#watchdog.isActive;
  }

  /** The network's name for it. */
  get host(): string {
    return this.#options.host.name;
  }

  booted(bootID: string): void {
    const { kernel, host, machine } = this.#options;
    const begins = { monotonicMs: host.clock.monotonicMs(), bootMs: host.clock.bootMs() };
    const boot: Boot = { bootID, begins, key: `${machine.node}-${kernel.nowMs.toFixed(0)}`, record: undefined };
    this.#boot = boot;
    this.#startLater(STARTED_AFTER_MS);
  }

  /** Its power went, or it was reset. */
  ended(): void {
    this.#watchdog.disarm();
    this.panicked();
    this.#thaw();
  }

  /** Its kernel stands still, its watchdog counts on. */
  panicked(): void {
    this.#boot = undefined;
    this.#end();
  }

  /** SIGKILL. Returns what starts it anew. */
  kill(): () => void {
    this.#isHeldBack = true;
    this.#end();
    return () => {
      this.#isHeldBack = false;
      this.#startLater(0);
    };
  }

  pause(): () => void {
    const process = this.#running?.process;
    process?.stop();
    return () => process?.resume();
  }

  /** One of its checks does not get on; the rest of it does. */
  wedge(): () => void {
    const daemon = this.#running?.daemon;
    daemon?.progress.expect(WEDGED, 1);
    return () => daemon?.progress.expect(WEDGED, NEVER_MS);
  }

  /** SIGTERM, and another process after it. */
  upgrade(): () => void {
    const running = this.#running;
    this.#isHeldBack = true;
    running?.process.deliver(() => {
      void running.daemon.close().then((end) => {
        this.#say(running.process, 'info', `ended: ${end}`);
        if (this.#running === running) this.#end();
      });
    });
    return () => {
      this.#isHeldBack = false;
      if (this.#running === undefined) this.#startLater(0);
    };
  }

  /** Its processors stand still. */
  freeze(): () => void {
    if (!this.#isFrozen) {
      this.#isFrozen = true;
      this.#options.host.stop();
      this.#running?.process.stop();
    }
    return () => this.#thaw();
  }

  /** Its hypervisor pauses it. */
  pauseMachine(kind: 'stop' | 'suspend', durationMs: number): void {
    const { host, kernel } = this.#options;
    const processes = [host, this.#running?.process].filter((process) => process !== undefined);
    this.#watchdog.pause();
    for (const process of processes) {
      if (kind === 'suspend') process.suspend(durationMs);
      else process.stop();
    }
    kernel.schedule(durationMs, () => {
      if (kind === 'stop') for (const process of processes) process.resume();
      this.#watchdog.goOn();
    });
  }

  jump(byMs: number): void {
    this.#options.host.jumpWallClock(byMs);
  }

  #thaw(): void {
    if (!this.#isFrozen) return;
    this.#isFrozen = false;
    this.#options.host.resume();
    this.#running?.process.resume();
  }

  #reset(cause: 'watchdog' | 'kernel', why: string): void {
    const { kernel, machine, traits, sees } = this.#options;
    kernel.trace(`${machine.node} is reset: ${why}`);
    sees?.reset(cause, why);
    machine.reset(traits.isStuckAfterReset);
  }

  #end(): void {
    this.#running?.process.crash();
    this.#running = undefined;
  }

  /** Where there is a boot, and no daemon by then. */
  #startLater(delayMs: number): void {
    const boot = this.#boot;
    this.#options.kernel.schedule(delayMs, () => {
      if (boot !== undefined && this.#boot === boot && this.#running === undefined && !this.#isHeldBack) this.#start(boot);
    });
  }

  #start(boot: Boot): void {
    const { kernel, machine, host, daemon: given, clockRate } = this.#options;
    const { node } = machine;
    this.#started += 1;
    const process = kernel.spawn(`daemon-${node}-${this.#started}`, clockRate);
    const clock = new BootClock(host, process, boot.begins);
    const daemon = new NodeDaemon(this.#ports(boot, process, clock), {
      ...{ ...given, node, bootID: boot.bootID, fencesItself: true },
    });
    this.#running = { process, daemon, clock };
    kernel.trace(`${process.name} starts in boot ${boot.bootID}`);
    void daemon.start();
  }

  #ports(boot: Boot, process: SimulatedProcess, clock: BootClock): NodeDaemonPorts {
    const { kernel, traits, datagrams, transport, checks } = this.#options;
    const log = (level: string) => (message: string, fields?: object) => this.#say(process, level, message, fields);
    const logger: DaemonLog = { info: log('info'), warn: log('warn'), error: log('error') };
    return {
      clock,
      cluster: new ApiClient({ transport: transport(process), deadlineMs: API_DEADLINE_MS }),
      socket: datagrams.socket(this.host, process),
      keys: { publicKey: keyOf(boot.key), macWith: (other) => macOf(keyOf(boot.key), other) },
      watchdog: this.#device(clock),
      workload: { stop: (deadlineMs) => this.#stopWorkload(clock, deadlineMs) },
      machine: {
        reset: (cause) => {
          if (traits.doesReset) kernel.schedule(RESET_AFTER_MS, () => (this.#boot === boot ? this.#reset('kernel', cause) : undefined));
        },
      },
      record: {
        read: () => Promise.resolve(structuredClone(boot.record)),
        write: (record) => {
          boot.record = structuredClone(record);
        },
      },
      promises: {
        read: () => Promise.resolve(this.#promises),
        // Neither comes about when the process or the machine ends before it is synced.
        write: async (promises) => {
          await clock.sleep(traits.syncMs + this.slowDiskMs);
          this.#promises = new Map(promises);
        },
      },
      ...(checks === undefined ? {} : { checks: checks(clock) }),
      log: logger,
    };
  }

  #device(clock: BootClock): WatchdogDevice {
    const { traits, machine } = this.#options;
    return {
      facts: () =>
        Promise.resolve({
          ...{ device: '/dev/watchdog0', identity: 'iTCO_wdt', kind: 'hardware' as const, action: 'reset' },
          ...{ isPausable: traits.isPausable, timeoutMs: traits.watchdogMs, isNowayout: false, outlivesClose: true },
        }),
      open: async () => {
        await clock.sleep(OPENED_AFTER_MS);
        this.#options.kernel.trace(`the watchdog of ${machine.node} is armed`);
        this.#watchdog.feed();
      },
      feed: () => this.#watchdog.feed(),
      disarm: async () => {
        await clock.sleep(OPENED_AFTER_MS);
        this.#options.kernel.trace(`the watchdog of ${machine.node} is disarmed`);
        this.#watchdog.disarm();
      },
    };
  }

  /** The kubelet is halted first, so that it starts nothing anew. */
  async #stopWorkload(clock: BootClock, deadlineMs: number): Promise<'stopped' | 'running'> {
    const { machine, traits } = this.#options;
    machine.hang();
    await clock.sleep(Math.min(traits.podStopMs, deadlineMs));
    if (traits.podStopMs > deadlineMs) return 'running';
    machine.stopWorkload();
    if (this.#boot !== undefined) this.#options.sees?.podsEnded(this.#boot.bootID);
    return 'stopped';
  }

  #say({ name }: SimulatedProcess, level: string, message: string, fields: object = {}): void {
    const words = Object.entries(fields).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
    const line = [name, level, message, ...words].join(' ');
    this.#options.kernel.trace(line);
    this.#options.onLine?.(line);
  }
}
