import type { AttestedStorageLease, AttestedWatchdog } from '../../domain/node-daemon/attestation.ts';
import { wantedConditions } from '../../domain/node-daemon/conditions.ts';
import { SIGNS } from '../../domain/node-daemon/datagram.ts';
import type { FoundWell } from '../../domain/node-daemon/found-well.ts';
import type { OrderOutcome } from '../../domain/node-daemon/order.ts';
import type { WrittenTimes } from '../../domain/node-daemon/times.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { NodeConditions } from '../../ports/node-conditions.ts';
import type { CheckFound, CheckName, NodeCheck } from '../../ports/node-checks.ts';
import type {
  DaemonLog,
  DatagramSocket,
  ExchangeKeys,
  KeepRecordStore,
  MachineReset,
  OrderExecutor,
  OrderRecordStore,
  PromiseStore,
  Registrations,
  UnfenceRecordStore,
  WatchdogDevice,
  WorkloadStopper,
} from '../../ports/node-daemon.ts';
import type { StorageSlots } from '../../ports/storage-lease.ts';
import { Attester } from './attester.ts';
import type { Said } from './attester.ts';
import { Checks } from './checks.ts';
import type { CheckStatus } from './checks.ts';
import { ConditionsPoster } from './conditions.ts';
import { attestedFindings, signsOf } from './findings.ts';
import { DaemonTimes } from './daemon-times.ts';
import { ControllersReader } from './controllers-reader.ts';
import { Exchange } from './exchange.ts';
import type { ExchangeHooks } from './exchange.ts';
import { Keeper } from './keeper.ts';
import { Orders } from './orders.ts';
import type { Progress } from './progress.ts';
import { Promises } from './promises.ts';
import { StorageWatch } from './storage-watch.ts';
import { Unfencer } from './unfencer.ts';
import type { UnfencerStatus } from './unfencer.ts';

export interface NodeDaemonPorts {
  clock: Clock;
  cluster: Pick<Cluster, 'get' | 'create' | 'mergePatch'>;
  socket: DatagramSocket;
  keys: ExchangeKeys;
  watchdog?: WatchdogDevice;
  workload: WorkloadStopper;
  machine: MachineReset;
  record: KeepRecordStore;
  promises: PromiseStore;
  /** Absent: none is wanted. */
  checks?: readonly NodeCheck[];
  /** Slots of other nodes on shared storage; absent: this node renews none there. */
  slots?: StorageSlots;
  /** Absent: it posts none. */
  conditions?: NodeConditions;
  /** Absent: it puts no registrations back. */
  unfence?: { registrations: Registrations; record: UnfenceRecordStore };
  /** Absent: it refuses every order of the controllers. */
  orders?: { store: OrderRecordStore; executor: OrderExecutor };
  log: DaemonLog;
}

export interface NodeDaemonOptions {
  node: string;
  bootID: string;
  systemUUID: string;
  /** The fence namespace. */
  namespace: string;
  fencesItself: boolean;
  /** Those that were written for this node; the controllers tell the others. */
  times: WrittenTimes;
  /** How long its named storage must be lost before it fences itself because of that; absent: it never does. */
  storageLostMs?: number;
  /** The same for its slot on shared storage that it cannot renew. */
  storageLeaseLostMs?: number;
}

/** What `nodefence node status` shows. Times are seconds. */
export interface NodeDaemonStatus {
  node: string;
  bootID: string;
  phase: string;
  /** How long it is kept up for; negative: since when it is not. */
  keptForSeconds?: number;
  watchdog: { state: string; feeds: number; device?: string; identity?: string; timeoutSeconds?: number };
  /** Since the last heartbeat that a controller granted was sent. */
  grantedSecondsAgo?: number;
  controllers: readonly string[];
  peers: { node: string; domain?: string; isAttested: boolean }[];
  attestedSecondsAgo?: number;
  areGrantsEnded: boolean;
  /** The last orders of the controllers, the newest last; absent: none came. */
  orders?: readonly OrderOutcome[];
  checks: CheckStatus[];
  /** Absent: it puts no registrations back. */
  unfence?: UnfencerStatus;
  refusedDatagrams: Record<string, number>;
  /** One sentence each. */
  problems: string[];
}

/** Decisions are at most so late. */
const TICK_MS = 250;
/** The exchange of datagrams is part of the same turn; longer without one means that turns do not come. */
const EXCHANGE_LIMIT_MS = 5_000;
const DISARM_WITHIN_MS = 25_000;

/** The node-local daemon, without the machine that it runs on (docs/adr/0012-node-daemons-authenticate-by-keys-in-the-api.md). */
export class NodeDaemon {
  readonly #ports: NodeDaemonPorts;
  readonly #options: NodeDaemonOptions;
  readonly #times: DaemonTimes;
  readonly #keeper: Keeper;
  readonly #promises: Promises;
  readonly #exchange: Exchange;
  readonly #attester: Attester;
  readonly #controllers: ControllersReader;
  readonly #checks: Checks;
  readonly #conditions: ConditionsPoster;
  readonly #storage: StorageWatch | undefined;
  readonly #unfencer: Unfencer | undefined;
  readonly #orders: Orders;
  readonly #leaseWatch: StorageWatch | undefined;
  /** The last that it renewed: where others look for it when it is silent. */
  #storageLease: AttestedStorageLease | undefined;
  #cancelTick: () => void = () => undefined;
  #shownState = '';
  #isEnding = false;

  constructor(ports: NodeDaemonPorts, options: NodeDaemonOptions) {
    const { node, bootID, namespace, fencesItself } = options;
    const times = new DaemonTimes(options.times);
    this.#times = times;
    this.#ports = ports;
    this.#options = options;
    this.#storage = watchOf('storage', ports, options, options.storageLostMs);
    this.#leaseWatch = watchOf('storage-lease', ports, options, options.storageLeaseLostMs);
    const mayOpen = (): boolean => times.isFixed || this.#controllers.hasTried;
    this.#keeper = new Keeper(ports, {
      bootID,
      fencesItself,
      times,
      mayOpen,
      storageLostAtMs: () => this.#storage?.lostAtMs ?? this.#leaseWatch?.lostAtMs,
    });
    this.#promises = new Promises(ports.promises, ports.log);
    this.#orders = new Orders({
      log: ports.log,
      ...(ports.orders === undefined ? {} : { carriedOut: ports.orders }),
      bootID,
      validMs: () => times.current.grantMs,
      isGoingDown: () => this.#isEnding || this.#isGoingDown,
      changed: () => this.#attester.wake(),
    });
    const hooks: ExchangeHooks = {
      signs: () => this.#signs(),
      kept: (untilMs) => this.#keeper.keep(untilMs),
      permitted: (permit, untilMs) => this.#unfencer?.permit(permit, untilMs),
      heardTerm: (epoch) => this.#orders.heardTerm(epoch),
      ordered: (received) => this.#orders.take(received),
    };
    this.#exchange = new Exchange({ ...ports, promises: this.#promises }, { node, bootID, times }, hooks);
    const attesterOptions = { node, namespace, times };
    this.#attester = new Attester(
      ports,
      attesterOptions,
      () => this.#said(),
      () => this.#learn(),
    );
    this.#controllers = new ControllersReader(ports, namespace, {
      changed: () => this.#learn(),
      grantedUntilMs: () => this.#exchange.grantedUntilMs,
    });
    this.#checks = new Checks(ports, this.#keeper.progress, (name, found) => this.#found(name, found));
    this.#unfencer =
      ports.unfence &&
      new Unfencer({ ...ports, ...ports.unfence }, bootID, {
        areGrantsEnded: () => this.#exchange.areGrantsEnded,
        acknowledged: () => this.#attester.acknowledged?.unfence,
        changed: () => this.#attester.wake(),
      });
    this.#conditions = new ConditionsPoster(ports, () => wantedConditions((name) => this.#checks.found(name)));
  }

  /** The watchdog is fed only while each check that is expected there reports in time. */
  get progress(): Progress {
    return this.#keeper.progress;
  }

  /** Resolves when it runs. Rejects when what an earlier process of this boot left cannot be read: then nothing may be assumed. */
  async start(): Promise<void> {
    const record = await this.#keeper.restore();
    await this.#promises.restore();
    await this.#orders.restore();
    if (record?.known !== undefined) {
      this.#exchange.know(record.known);
      this.#controllers.knew(record.known);
      this.#times.ask(record.known.times ?? {});
    }
    await this.#unfencer?.restore();
    this.#keeper.progress.expect('exchange', EXCHANGE_LIMIT_MS);
    this.#exchange.start();
    this.#controllers.start();
    this.#attester.start();
    this.#checks.start();
    this.#conditions.start();
    this.#tick();
  }

  /** A clean stop: the watchdog is disarmed once the API server knows of it; otherwise it stays armed and the machine is reset unless a daemon takes it over. */
  async close(): Promise<'disarmed' | 'armed'> {
    this.#isEnding = !this.#isGoingDown;
    if (this.#isEnding) this.#exchange.farewell();
    const isAccepted = this.#isEnding && (await this.#attester.end(DISARM_WITHIN_MS));
    // A node that takes itself down does so, whether that began before its daemon was stopped or meanwhile: its pods are half stopped, its kubelet halted.
    const isGoingDown = this.#isGoingDown;
    if (isGoingDown) await this.#ports.clock.sleep(this.#times.current.podStopMaxMs + TICK_MS);
    const isKnown = isAccepted && !isGoingDown;
    this.#controllers.close();
    this.#checks.close();
    this.#conditions.close();
    this.#cancelTick();
    if (this.#isEnding) this.#exchange.farewell();
    if (isKnown) await this.#keeper.disarm();
    else
      this.#ports.log.error('the watchdog stays armed', {
        reason: isGoingDown ? 'the node takes itself down' : 'the API server has not accepted that it is disarmed',
      });
    this.#ports.socket.close();
    return isKnown ? 'disarmed' : 'armed';
  }

  get #isGoingDown(): boolean {
    return this.#keeper.phase === 'stopping' || this.#keeper.phase === 'down';
  }

  status(): NodeDaemonStatus {
    const { node, bootID } = this.#options;
    const nowMs = this.#ports.clock.monotonicMs();
    const { keptUntilMs, facts } = this.#keeper;
    const { attestedAtMs, accepted, told } = this.#attester;
    const { grantedAtMs } = this.#exchange;
    return {
      node,
      bootID,
      phase: this.#keeper.fencesItself ? this.#keeper.phase : 'off',
      ...(keptUntilMs === undefined ? {} : { keptForSeconds: (keptUntilMs - nowMs) / 1000 }),
      watchdog: {
        state: this.#keeper.watchdogState,
        feeds: this.#keeper.feeds,
        ...(facts === undefined ? {} : { device: facts.device, identity: facts.identity, timeoutSeconds: facts.timeoutMs / 1000 }),
      },
      ...(grantedAtMs === undefined ? {} : { grantedSecondsAgo: (nowMs - grantedAtMs) / 1000 }),
      controllers: this.#exchange.known.controllerAddresses,
      peers: told.peers.map((peer) => ({
        node: peer.node,
        ...(peer.domain === undefined ? {} : { domain: peer.domain }),
        isAttested: accepted.includes(peer.node),
      })),
      ...(attestedAtMs === undefined ? {} : { attestedSecondsAgo: (nowMs - attestedAtMs) / 1000 }),
      areGrantsEnded: this.#exchange.areGrantsEnded,
      ...this.#attestedOrders(),
      checks: this.#checks.status(),
      ...(this.#unfencer === undefined ? {} : { unfence: this.#unfencer.status }),
      refusedDatagrams: Object.fromEntries(this.#exchange.refused),
      problems: [this.#times, this.#keeper, this.#promises, this.#attester, this.#controllers, this.#conditions, this.#unfencer, this.#orders]
        .map((part) => part?.problem)
        .filter((problem) => problem !== undefined),
    };
  }

  #tick(): void {
    this.#cancelTick = this.#ports.clock.after(TICK_MS, () => this.#tick());
    if (this.#keeper.tick().hasSlept) {
      this.#exchange.forget();
      this.#unfencer?.forget();
      this.#storage?.interrupt();
      this.#leaseWatch?.interrupt();
    }
    this.#exchange.tick();
    if (!this.#isEnding) this.#unfencer?.tick();
    this.#keeper.progress.report('exchange');
    // When it was looked at goes with the next attestation: a write for each look would be twice as many.
    const wellTypes = this.#checks.well().map(({ type }) => type);
    const state = `${this.#keeper.watchdogState} ${this.#keeper.facts?.timeoutMs ?? 0} ${JSON.stringify([attestedFindings(this.#checks), wellTypes, this.#storageLease])}`;
    if (state === this.#shownState) return;
    this.#shownState = state;
    this.#attester.wake();
  }

  #found(name: CheckName, { targets, lease }: CheckFound): void {
    if (name !== 'storage' && name !== 'storage-lease') return;
    const watch = name === 'storage' ? this.#storage : this.#leaseWatch;
    const found = name === 'storage' ? targets : lease && [lease];
    if (found === undefined) watch?.interrupt();
    else watch?.probed(found, this.#ports.clock.monotonicMs());
    if (lease?.isRenewed === true && lease.id !== undefined && lease.slot !== undefined)
      this.#storageLease = { id: lease.id, slot: lease.slot, intervalMs: lease.intervalMs };
  }

  /** The API server said something of controllers or peers. */
  #learn(): void {
    const { publicKeys, addresses, times } = this.#controllers.known;
    const { told, accepted, counted } = this.#attester;
    this.#times.ask(times);
    const known = { controllerKeys: publicKeys, controllerAddresses: addresses, times, told, accepted, counted };
    this.#exchange.know(known);
    this.#keeper.remember(known);
  }

  #signs(): number {
    const { phase, watchdogState } = this.#keeper;
    const isIsolated = phase === 'isolated' || phase === 'stopping' || phase === 'down';
    return (
      (watchdogState === 'armed' ? SIGNS.watchdogArmed : 0) |
      (isIsolated ? SIGNS.isolated : 0) |
      (phase === 'stopping' || phase === 'down' ? SIGNS.stopping : 0) |
      signsOf(this.#checks) |
      (this.#isEnding ? SIGNS.leaving : 0)
    );
  }

  #said(): Said {
    const { bootID, systemUUID } = this.#options;
    const { fencesItself } = this.#keeper;
    const watchdog = this.#watchdogSaid();
    const { grantMs, isolationTimeoutMs, podStopMaxMs, resetTimeMs } = this.#times.current;
    return {
      bootID,
      systemUUID,
      publicKey: this.#ports.keys.publicKey,
      address: this.#ports.socket.address,
      ...(watchdog === undefined ? {} : { watchdog }),
      ...(fencesItself && !this.#isEnding ? { selfFence: { grantMs, isolationTimeoutMs, podStopMaxMs, resetTimeMs } } : {}),
      ...attestedFindings(this.#checks),
      ...this.#attestedWell(),
      ...(this.#unfencer === undefined ? {} : { unfence: this.#unfencer.attested }),
      ...this.#attestedOrders(),
      ...(this.#storageLease === undefined ? {} : { storageLease: this.#storageLease }),
      ...(this.#isEnding ? { isEnding: true } : {}),
    };
  }

  #attestedWell(): { foundWell?: FoundWell[] } {
    const foundWell = this.#checks.well();
    return foundWell.length === 0 ? {} : { foundWell };
  }

  #attestedOrders(): { orders?: OrderOutcome[] } {
    const { outcomes } = this.#orders;
    return outcomes.length === 0 ? {} : { orders: [...outcomes] };
  }

  /** What is about to be disarmed is said to be so before it is. */
  #watchdogSaid(): AttestedWatchdog | undefined {
    const { facts, watchdogState } = this.#keeper;
    if (facts === undefined) return undefined;
    const { kind, action, isPausable, timeoutMs } = facts;
    return { state: this.#isEnding ? 'disarmed' : watchdogState, kind, action, isPausable, timeoutMs };
  }
}

/** Undefined: no storage is named, or its loss takes nothing down. */
function watchOf(
  name: CheckName,
  { checks }: NodeDaemonPorts,
  { fencesItself }: NodeDaemonOptions,
  lostMs: number | undefined,
): StorageWatch | undefined {
  const check = checks?.find((one) => one.name === name);
  if (check === undefined || !fencesItself || lostMs === undefined) return undefined;
  return new StorageWatch({ timeoutMs: lostMs, gapMaxMs: 2 * (check.intervalMs + check.deadlineMs) });
}
