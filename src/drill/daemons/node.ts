import { randomUUID } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WrittenTimes } from '../../domain/node-daemon/times.ts';
import type { TraceEvent } from '../../laws/trace.ts';
import { askStatus } from '../../node/shell/status-socket.ts';
import type { Child } from '../run/child.ts';
import { pause } from '../run/pause.ts';
import { drillProgram } from '../run/process-host.ts';
import type { ProcessHost } from '../run/process-host.ts';
import { programPath } from '../../testbed/shipped/program.ts';
import { PlayedKernel } from './kernel.ts';
import type { Network } from './network.ts';
import type { DaemonStatus, PlayedNode } from './played.ts';
import { BOOT_MS, RENEW_MS, RESTART_MS, STOP_MS } from './times.ts';

const SHARED = '/dev/shared';
const SHARED_BYTES = 65_536;

export interface NodeSite {
  processes: ProcessHost;
  network: Network;
  times: Required<Pick<WrittenTimes, 'watchdogMs'>> & WrittenTimes;
  labels: Readonly<Record<string, string>>;
  access: { server: string; caPem: string; token: string };
  /** Of the daemons' account. */
  kubeconfig: string;
  now: () => number;
  tell: (line: string) => void;
  /** A BMC switches its power, and tells of it. */
  hasBmc: boolean;
  /** Its daemon is to take it down when its shared storage was lost for so long; absent: it has none. */
  storageLostMs: number | undefined;
}

/** One machine: kubelet and pods in one process, which is in the cgroup of pods; the daemon in another, with a supervisor. */
export class DaemonNode implements PlayedNode {
  readonly name: string;
  /** Why it was reset, each time. */
  readonly resets: string[] = [];
  readonly #site: NodeSite;
  readonly #kernel: PlayedKernel;
  readonly #root: string;
  readonly systemUUID = randomUUID();
  #bootID: string = randomUUID();
  #boots = 0;
  #daemons = 0;
  #machine: Child | undefined;
  #daemon: Child | undefined;
  /** When the processes of its pods ended, and when it was reset, on the clock of the drill. */
  podsEndedAtMs: number | undefined;
  resetAtMs: number | undefined;
  #isClosed = false;
  #isSupervised = true;

  constructor(name: string, site: NodeSite) {
    this.name = name;
    this.#site = site;
    this.#root = site.processes.folder.in(`kernel-${name}`);
    mkdirSync(join(this.#root, 'dev'), { recursive: true });
    this.setStorage('answers');
    this.#kernel = new PlayedKernel({
      root: this.#root,
      systemUUID: this.systemUUID,
      watchdogMs: site.times.watchdogMs,
      onReset: (cause) => this.#reset(cause),
    });
  }

  /** What reads its shared storage hangs from now on, or reads it again. */
  setStorage(state: 'hangs' | 'answers'): void {
    const path = join(this.#root, SHARED);
    rmSync(path, { force: true });
    if (state === 'hangs') execFileSync('mkfifo', [path]);
    else writeFileSync(path, Buffer.alloc(SHARED_BYTES));
  }

  freezeDaemon(): () => void {
    return this.#running.freeze();
  }

  killDaemon(): void {
    this.#running.signal('SIGKILL');
  }

  jumpDaemonClock(byMs: number): void {
    this.#running.tell({ jumpMs: byMs });
  }

  get #running(): Child {
    if (this.#daemon === undefined) throw new Error(`the daemon of ${this.name} does not run`);
    return this.#daemon;
  }

  get isWatchdogActive(): boolean {
    return this.#kernel.isWatchdogActive;
  }

  /** The end of what its daemon said, for an error. */
  get lastWords(): string {
    return this.#daemon?.log().trim().split('\n').slice(-4).join('\n') ?? '';
  }

  async start(): Promise<void> {
    if (!this.#site.hasBmc) this.#record({ kind: 'power', at: this.#site.now(), node: this.name, state: 'on', cause: 'start' });
    await this.#boot();
  }

  /** Its power goes, or comes back. */
  async setPower(state: 'on' | 'off'): Promise<void> {
    await this.#end();
    if (state === 'on' && !this.#isClosed) await this.#boot();
  }

  /** Undefined while nobody answers. */
  async status(): Promise<DaemonStatus | undefined> {
    return askStatus(join(this.#folder('run'), 'node.sock')).then(
      (page) => page as DaemonStatus,
      () => undefined,
    );
  }

  /** A clean stop and another process in its place, as an upgrade has it. */
  async replaceDaemon(): Promise<void> {
    this.#isSupervised = false;
    await this.#running.stop(STOP_MS);
    await pause(RESTART_MS);
    this.#isSupervised = true;
    this.#startDaemon();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const child of [this.#daemon, this.#machine]) child?.signal('SIGKILL');
    await Promise.all([this.#daemon?.end(), this.#machine?.end()]);
    this.#kernel.close();
  }

  #folder(what: 'run' | 'state'): string {
    return this.#site.processes.folder.in(`${what}-${this.name}`);
  }

  async #boot(): Promise<void> {
    this.#boots += 1;
    this.#kernel.boot(this.#bootID);
    const { processes, network, access, labels } = this.#site;
    const configuration = processes.folder.write(`machine-${this.name}.json`, {
      ...access,
      node: this.name,
      systemUUID: this.systemUUID,
      address: network.address(this.name),
      labels,
      disk: processes.folder.in('disk'),
      bootDelayMs: BOOT_MS,
      options: { renewMs: RENEW_MS },
      trace: processes.folder.trace(`machine-${this.name}`),
    });
    const command = network.at(this.name, [process.execPath, drillProgram('machine'), configuration]);
    const { child } = await processes.start(`machine-${this.name}-${String(this.#boots)}`, command, true);
    if (this.#isClosed) return;
    this.#machine = child;
    this.#kernel.addToPod(child.pid);
    child.tell({ command: 'boot', bootID: this.#bootID });
    void child.end().then(() => this.#podsEnded(child));
    this.#startDaemon();
  }

  #startDaemon(): void {
    const { processes, network, kubeconfig, times, storageLostMs } = this.#site;
    this.#daemons += 1;
    const configuration = processes.folder.write(`daemon-${this.name}.json`, {
      node: this.name,
      kubeconfig,
      address: network.address(this.name),
      root: this.#root,
      stateDir: this.#folder('state'),
      runDir: this.#folder('run'),
      times,
      ...(storageLostMs === undefined ? { storage: [] } : { storage: [{ kind: 'device', path: SHARED }], storageLostMs }),
    });
    const name = `daemon-${this.name}-${String(this.#daemons)}`;
    // It finds no program: nothing that it starts may reach the machine that plays all others.
    const command = network.at(this.name, ['env', 'PATH=/nonexistent', process.execPath, programPath('drill/daemons/daemon-program'), configuration]);
    const boot = this.#boots;
    void processes.start(name, command, false).then(({ child }) => {
      if (boot !== this.#boots || this.#isClosed) {
        child.signal('SIGKILL');
        return;
      }
      this.#daemon = child;
      void child.end().then(() => this.#supervise(child));
    });
  }

  async #supervise(child: Child): Promise<void> {
    await pause(RESTART_MS);
    if (this.#isSupervised && !this.#isClosed && this.#daemon === child) this.#startDaemon();
  }

  #podsEnded(machine: Child): void {
    if (this.#isClosed || this.#machine !== machine) return;
    this.podsEndedAtMs = this.#site.now();
    this.#record({ kind: 'node', at: this.podsEndedAtMs, node: this.name, what: 'panic', bootID: this.#bootID });
    this.#site.tell(`${this.name}: the processes of its pods have ended`);
  }

  /** Power stays on. */
  #reset(cause: string): void {
    if (this.#isClosed) return;
    this.resetAtMs = this.#site.now();
    this.resets.push(cause);
    this.#record({ kind: 'power', at: this.resetAtMs, node: this.name, state: 'on', cause: 'reset' });
    this.#site.tell(`${this.name} is reset: ${cause}`);
    void this.#end().then(() => (this.#isClosed ? undefined : this.#boot()));
  }

  /** Nothing of this boot runs any more, and what was in memory is gone. */
  async #end(): Promise<void> {
    const [machine, daemon] = [this.#machine, this.#daemon];
    [this.#machine, this.#daemon] = [undefined, undefined];
    for (const child of [machine, daemon]) child?.signal('SIGKILL');
    this.#bootID = randomUUID();
    await Promise.all([machine?.end(), daemon?.end()]);
    this.#kernel.halt();
    rmSync(this.#folder('run'), { recursive: true, force: true });
  }

  #record(event: TraceEvent): void {
    this.#site.processes.folder.record(event);
  }
}
