import type { TraceEvent } from '../../../laws/trace.ts';
import { NAMESPACE } from '../../../manifests/access.ts';
import type { ApiTransport } from '../../../ports/api-transport.ts';
import type { Disk } from '../../../testbed/cluster/disk.ts';
import { Machine } from '../../../testbed/cluster/machine.ts';
import { SHORT_KUBELET } from '../../../testbed/cluster/options.ts';
import type { Datagrams } from '../../../testbed/simulation/datagrams.ts';
import type { Kernel } from '../../../testbed/simulation/kernel.ts';
import type { SimulatedProcess } from '../../../testbed/simulation/simulated-process.ts';
import type { DaemonStatus, PlayedNode } from '../played.ts';
import { BOOT_MS, RACK_LABEL, RENEW_MS, RESTART_MS, STOP_MS, TIMES } from '../times.ts';
import { DaemonMachine } from './daemon-machine.ts';
import type { MachineTraits } from './daemon-machine.ts';
import { storageCheck } from './storage.ts';

export interface SimulatedSite {
  kernel: Kernel;
  datagrams: Datagrams;
  disk: Disk;
  rack: string;
  systemUUID: string;
  /** Its kubelet’s way to the API server, and its daemons’. */
  kubelet: (process: SimulatedProcess) => ApiTransport;
  daemon: (process: SimulatedProcess) => ApiTransport;
  now: () => number;
  pause: (ms: number) => Promise<void>;
  tell: (line: string) => void;
  record: (event: TraceEvent) => void;
  /** What its processes say. */
  onLine: (line: string) => void;
  storageLostMs: number | undefined;
  traits: Partial<MachineTraits>;
}

const LINES_SHOWN = 4;
const LOOK_MS = 100;

/** A machine without faults of its own: its watchdog keeps time, its kernel resets it when it is told to. */
const TRAITS: MachineTraits = {
  ...{ watchdogMs: TIMES.watchdogMs, watchdogRate: 1, isPausable: false },
  ...{ podStopMs: 500, doesReset: true, isStuckAfterReset: false, syncMs: 10 },
};

/** One machine of a world on a virtual clock: kubelet, pods and daemon are those of the product and of the test bed. */
export class SimulatedNode implements PlayedNode {
  readonly name: string;
  readonly machine: Machine;
  readonly resets: string[] = [];
  podsEndedAtMs: number | undefined;
  readonly #site: SimulatedSite;
  readonly #daemon: DaemonMachine;
  readonly #lines: string[] = [];
  #storageHangs = false;

  constructor(name: string, site: SimulatedSite) {
    this.name = name;
    this.#site = site;
    const { kernel, datagrams, disk, systemUUID, rack, storageLostMs } = site;
    const host = kernel.spawn(name);
    const trace = (event: TraceEvent): void => this.#saw(event);
    this.machine = new Machine(
      { transport: site.kubelet(host), clock: host.clock, random: host.random, trace, disk },
      { ...SHORT_KUBELET, renewMs: RENEW_MS, node: name, systemUUID, bootDelayMs: BOOT_MS, labels: { [RACK_LABEL]: rack } },
    );
    this.#daemon = new DaemonMachine({
      ...{ kernel, machine: this.machine, host, clockRate: 1, traits: { ...TRAITS, ...site.traits }, datagrams, transport: site.daemon },
      daemon: { namespace: NAMESPACE, times: TIMES, systemUUID, ...(storageLostMs === undefined ? {} : { storageLostMs }) },
      ...(storageLostMs === undefined ? {} : { checks: (clock) => [storageCheck(clock, () => this.#storageHangs)] }),
      sees: { reset: (cause) => this.#reset(cause), podsEnded: (bootID) => this.#podsEnded(bootID) },
      onLine: (line) => this.#says(line),
    });
  }

  get isWatchdogActive(): boolean {
    return this.#daemon.isArmed;
  }

  get lastWords(): string {
    return this.#lines.slice(-LINES_SHOWN).join('\n');
  }

  status(): Promise<DaemonStatus | undefined> {
    return Promise.resolve(this.#daemon.status);
  }

  setStorage(state: 'hangs' | 'answers'): void {
    this.#storageHangs = state === 'hangs';
  }

  freezeDaemon(): () => void {
    return this.#daemon.pause();
  }

  killDaemon(): void {
    const startAnew = this.#daemon.kill();
    this.#site.kernel.schedule(RESTART_MS, startAnew);
  }

  async replaceDaemon(): Promise<void> {
    const startAnew = this.#daemon.upgrade();
    for (let waitedMs = 0; this.#daemon.isDaemonRunning && waitedMs < STOP_MS; waitedMs += LOOK_MS) await this.#site.pause(LOOK_MS);
    await this.#site.pause(RESTART_MS);
    startAnew();
  }

  jumpDaemonClock(byMs: number): void {
    this.#daemon.jump(byMs);
  }

  #says(line: string): void {
    this.#lines.push(line);
    this.#site.onLine(line);
  }

  /** Its parts are told as hardware tells them, and the judge too. */
  #saw(event: TraceEvent): void {
    this.#site.record(event);
    if (event.kind === 'node' && event.what === 'boot') this.#daemon.booted(event.bootID ?? '');
    if (event.kind === 'power' && (event.state === 'off' || event.cause === 'reset')) this.#daemon.ended();
  }

  #podsEnded(bootID: string): void {
    const { now, record, tell } = this.#site;
    this.podsEndedAtMs = now();
    record({ kind: 'node', at: now(), node: this.name, what: 'panic', bootID });
    tell(`${this.name}: the processes of its pods have ended`);
  }

  #reset(cause: 'watchdog' | 'kernel'): void {
    const why = cause === 'watchdog' ? 'its watchdog was not fed' : 'sysrq';
    this.resets.push(why);
    this.#site.tell(`${this.name} is reset: ${why}`);
  }
}
