import { ApiStatusError, TransportError } from '../../../src/ports/api-transport.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { Cluster, Resource } from '../../../src/ports/cluster.ts';
import type { NodeCheck } from '../../../src/ports/node-checks.ts';
import type {
  DatagramSocket,
  KeepRecord,
  OrderExecutor,
  OrderRecord,
  OrderRecordStore,
  WatchdogDevice,
  WatchdogFacts,
} from '../../../src/ports/node-daemon.ts';
import type { KubeObject } from '../../../src/ports/objects.ts';
import type { StorageSlots } from '../../../src/ports/storage-lease.ts';
import { ManualClock } from '../../../src/runtime/manual-clock.ts';
import { NodeDaemon } from '../../../src/node/core/daemon.ts';
import type { NodeDaemonOptions, NodeDaemonPorts } from '../../../src/node/core/daemon.ts';
import { keyOf, macOf } from '../../../src/testbed/simulation/keys.ts';

/** Several machines with their daemons, a network whose links can be cut, and an API server that can be cut off: all on one clock, in memory. */
export class DaemonWorld {
  readonly clock = new ManualClock();
  readonly machines = new Map<string, MachineModel>();
  readonly #handlers = new Map<string, (bytes: Uint8Array, from: string) => void>();
  readonly #objects = new Map<string, KubeObject>();
  #version = 1;
  /** `a>b`: what a sends does not reach b. The API server is `api`. */
  readonly cut = new Set<string>();
  /** The API server acts, and its answer is lost. */
  readonly losesAnswers = new Set<string>();
  latencyMs = 1;

  machine(name: string, change: Partial<MachineOptions> = {}): MachineModel {
    const machine = new MachineModel(this, name, change);
    this.machines.set(name, machine);
    return machine;
  }

  socket(owner: string, address: string): DatagramSocket {
    return {
      address,
      send: (to, bytes) => {
        const copy = Uint8Array.from(bytes);
        this.clock.after(this.latencyMs, () => {
          const target = to.split(':')[0] ?? '';
          if (this.cut.has(`${owner}>${target}`) || this.machines.get(owner)?.isDead === true) return;
          this.#handlers.get(to)?.(copy, address);
        });
      },
      receive: (handle) => {
        this.#handlers.set(address, (bytes, from) => {
          if (this.machines.get(owner)?.isDead !== true) handle(bytes, from);
        });
      },
      close: () => this.#handlers.delete(address),
    };
  }

  object(kind: string, name: string): KubeObject | undefined {
    return this.#objects.get(`${kind}/${name}`);
  }

  put(kind: string, object: KubeObject): KubeObject {
    this.#version += 1;
    const stored = structuredClone({ ...object, metadata: { ...object.metadata, resourceVersion: String(this.#version) } });
    this.#objects.set(`${kind}/${object.metadata.name}`, stored);
    return stored;
  }

  /** The API server as `owner` reaches it. */
  cluster(owner: string): Pick<Cluster, 'get' | 'create' | 'mergePatch'> {
    const answered = async <T>(act: () => T): Promise<T> => {
      await this.clock.sleep(this.latencyMs);
      if (this.cut.has(`${owner}>api`)) throw new TransportError('timeout', 'the API server does not answer');
      const result = act();
      if (this.losesAnswers.has(owner)) throw new TransportError('timeout', 'the answer was lost');
      return result;
    };
    return {
      get: async <T extends KubeObject>({ kind }: Resource<T>, name: string) =>
        answered(() => structuredClone(this.object(kind, name)) as T | undefined),
      create: async <T extends KubeObject>({ kind }: Resource<T>, object: T) =>
        answered(() => {
          if (this.object(kind, object.metadata.name) !== undefined) throw new ApiStatusError(409, 'AlreadyExists', 'is there');
          return structuredClone(this.put(kind, object)) as T;
        }),
      mergePatch: async <T extends KubeObject>({ kind }: Resource<T>, name: string, patch: object) =>
        answered(() => {
          const found = this.object(kind, name);
          if (found === undefined) throw new ApiStatusError(404, 'NotFound', 'is not there');
          const { metadata, ...rest } = patch as KubeObject;
          if (metadata.resourceVersion !== found.metadata.resourceVersion) throw new ApiStatusError(409, 'Conflict', 'has moved');
          const annotations = { ...found.metadata.annotations, ...metadata.annotations };
          return structuredClone(this.put(kind, { ...found, ...rest, metadata: { ...found.metadata, annotations } })) as T;
        }),
    };
  }

  /** In steps, so that what one thing sets off comes before the next. */
  async run(ms: number, stepMs = 50): Promise<void> {
    for (let over = 0; over < ms; over += stepMs) {
      await this.clock.advance(stepMs);
      for (const machine of this.machines.values()) machine.count();
    }
  }
}

export interface MachineOptions {
  facts: WatchdogFacts | { problem: string };
  options: Partial<NodeDaemonOptions>;
  /** How long its pods take to stop. */
  podStopMs: number;
  /** How long opening the watchdog takes, as where its timeout is set first. */
  openMs: number;
  /** An admin may want none. */
  hasWatchdog: boolean;
  checks: readonly NodeCheck[];
  /** Its registrations on shared storage; absent: it puts none back. */
  unfence?: NodeDaemonPorts['unfence'];
  /** Started with --soft-fence. */
  executor?: OrderExecutor;
  /** Slots of other nodes on storage that it shares with them. */
  slots?: StorageSlots;
}

export const HARDWARE: WatchdogFacts = {
  device: '/dev/watchdog0',
  identity: 'iTCO_wdt',
  kind: 'hardware',
  action: 'reset',
  isPausable: false,
  timeoutMs: 10_000,
  isNowayout: false,
  outlivesClose: true,
};

const TIMING = {
  grantMs: 5_000,
  watchdogMs: 10_000,
  feedIntervalMs: 3_000,
  isolationTimeoutMs: 40_000,
  podStopMaxMs: 30_000,
  resetTimeMs: 10_000,
  attestationIntervalMs: 30_000,
};

/** A machine: its watchdog counts whether or not anybody feeds it, its pods run until they are stopped or it is reset. */
export class MachineModel {
  readonly name: string;
  readonly world: DaemonWorld;
  readonly given: MachineOptions;
  daemon: NodeDaemon;
  record: KeepRecord | undefined;
  orderRecord: OrderRecord | undefined;
  promises = new Map<string, string>();
  failsToWritePromises = false;
  failsToReadPromises = false;
  refusesFeeding = false;
  fedAtMs: number | undefined;
  /** For which timeout the watchdog was opened last. */
  openedForMs: number | undefined;
  isArmed = false;
  isDead = false;
  deadAtMs: number | undefined;
  deadBy: string | undefined;
  podsStoppedAtMs: number | undefined;
  readonly log: string[] = [];
  /** Its monotonic clock when `atMs` on that of the world, and how fast it runs since. */
  #ownClock = { atMs: 0, ownMs: 0, rate: 1 };
  /** The process stands still, and feeds nothing. */
  isProcessDead = false;

  constructor(world: DaemonWorld, name: string, change: Partial<MachineOptions>) {
    this.name = name;
    this.world = world;
    this.given = { facts: HARDWARE, options: {}, podStopMs: 2_000, openMs: 0, hasWatchdog: true, checks: [], ...change };
    this.daemon = this.#made();
  }

  get address(): string {
    return `${this.name}:7411`;
  }

  get bootID(): string {
    const digits = Array.from(this.name, (letter) => (letter.codePointAt(0) ?? 0).toString(16)).join('');
    return `00000000-0000-4000-8000-${digits.padStart(12, '0').slice(-12)}`;
  }

  /** From now on its monotonic clock runs so fast; that of its watchdog as before. */
  slew(rate: number): void {
    this.#ownClock = { atMs: this.world.clock.monotonicMs(), ownMs: this.#ownMs(), rate };
  }

  #ownMs(): number {
    const { atMs, ownMs, rate } = this.#ownClock;
    return ownMs + (this.world.clock.monotonicMs() - atMs) * rate;
  }

  /** Its process was killed; another one is started. */
  restart(): void {
    this.isProcessDead = false;
    this.daemon = this.#made();
  }

  kill(): void {
    this.isProcessDead = true;
  }

  /** What the machine's hardware does by itself. */
  count(): void {
    const nowMs = this.world.clock.monotonicMs();
    if (this.isDead || !this.isArmed || this.fedAtMs === undefined) return;
    const timeoutMs = 'problem' in this.given.facts ? 0 : this.given.facts.timeoutMs;
    if (nowMs - this.fedAtMs >= timeoutMs) this.die('watchdog');
  }

  die(by: string): void {
    if (this.isDead) return;
    this.isDead = true;
    this.deadBy = by;
    this.deadAtMs = this.world.clock.monotonicMs();
  }

  /** No process of its workload writes any more since; undefined: it may still. */
  get harmlessSinceMs(): number | undefined {
    if (this.podsStoppedAtMs !== undefined) return this.podsStoppedAtMs;
    return this.deadAtMs;
  }

  #made(): NodeDaemon {
    const { world, name, given } = this;
    const mine = (): boolean => !this.isDead && !this.isProcessDead && this.daemon === made;
    const log = (level: string) => (message: string, fields?: object) => this.log.push(`${level} ${message} ${JSON.stringify(fields ?? {})}`);
    const ports: NodeDaemonPorts = {
      clock: this.#clock(mine),
      cluster: world.cluster(name),
      socket: world.socket(name, this.address),
      keys: { publicKey: keyOf(name), macWith: (other) => macOf(keyOf(name), other) },
      ...(given.hasWatchdog ? { watchdog: this.#watchdog(mine) } : {}),
      workload: { stop: async (deadlineMs) => this.#stopPods(deadlineMs, mine) },
      machine: { reset: (cause) => this.die(cause) },
      record: {
        read: () => Promise.resolve(structuredClone(this.record)),
        write: (record) => {
          if (mine()) this.record = structuredClone(record);
        },
      },
      checks: given.checks,
      ...(given.unfence === undefined ? {} : { unfence: given.unfence }),
      ...(given.executor === undefined ? {} : { orders: { executor: given.executor, store: this.#orderStore(mine) } }),
      ...(given.slots === undefined ? {} : { slots: given.slots }),
      promises: { read: async () => this.#readPromises(), write: async (promises) => this.#keepPromises(promises) },
      log: { info: log('info'), warn: log('warn'), error: log('error') },
    };
    const options: NodeDaemonOptions = {
      node: name,
      bootID: this.bootID,
      systemUUID: '1e2d3c4b-0000-4000-8000-00000000abcd',
      namespace: 'fences',
      fencesItself: true,
      times: TIMING,
      ...given.options,
    };
    const made: NodeDaemon = new NodeDaemon(ports, options);
    return made;
  }

  #orderStore(mine: () => boolean): OrderRecordStore {
    return {
      read: () => Promise.resolve(structuredClone(this.orderRecord)),
      write: (record) => {
        if (mine()) this.orderRecord = structuredClone(record);
      },
    };
  }

  /** A timer of a process that is gone fires for nobody. */
  #clock(mine: () => boolean): Clock {
    const { clock } = this.world;
    return {
      monotonicMs: () => this.#ownMs(),
      bootMs: () => this.#ownMs() + clock.bootMs() - clock.monotonicMs(),
      wallMs: () => clock.wallMs(),
      after: (delayMs, callback) =>
        clock.after(delayMs / this.#ownClock.rate, () => {
          if (mine()) callback();
        }),
      sleep: async (delayMs, signal) => clock.sleep(delayMs / this.#ownClock.rate, signal),
    };
  }

  #watchdog(mine: () => boolean): WatchdogDevice {
    const { clock } = this.world;
    return {
      facts: () => Promise.resolve(this.given.facts),
      open: async (timeoutMs) => {
        this.openedForMs = timeoutMs;
        await clock.sleep(this.given.openMs);
        if (!mine()) throw new Error('the process is gone');
        this.isArmed = true;
        this.fedAtMs = clock.monotonicMs();
      },
      feed: () => {
        if (this.refusesFeeding) throw new Error('EPIPE: broken pipe, write');
        if (mine()) this.fedAtMs = clock.monotonicMs();
      },
      disarm: () => {
        this.isArmed = false;
        return Promise.resolve();
      },
    };
  }

  async #stopPods(deadlineMs: number, mine: () => boolean): Promise<'stopped' | 'running'> {
    const { podStopMs } = this.given;
    await this.world.clock.sleep(Math.min(podStopMs, deadlineMs));
    if (podStopMs > deadlineMs) return 'running';
    if (mine()) this.podsStoppedAtMs = this.world.clock.monotonicMs();
    return 'stopped';
  }

  #readPromises(): Promise<ReadonlyMap<string, string>> {
    return this.failsToReadPromises ? Promise.reject(new Error('input/output error')) : Promise.resolve(new Map(this.promises));
  }

  #keepPromises(promises: ReadonlyMap<string, string>): Promise<void> {
    if (this.failsToWritePromises) return Promise.reject(new Error('no space left on device'));
    this.promises = new Map(promises);
    return Promise.resolve();
  }
}
