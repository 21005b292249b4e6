import { decideSelfFence } from '../../domain/node-daemon/self-fence.ts';
import type { SelfFenceCause, SelfFenceDecision, SelfFencePhase } from '../../domain/node-daemon/self-fence.ts';
import type { WrittenTimes } from '../../domain/node-daemon/times.ts';
import type { Clock } from '../../ports/clock.ts';
import { momentOf } from '../../ports/moment.ts';
import type { Moment } from '../../ports/moment.ts';
import type {
  DaemonLog,
  KeepRecord,
  KeepRecordStore,
  KnownOthers,
  MachineReset,
  WatchdogDevice,
  WatchdogFacts,
  WorkloadStopper,
} from '../../ports/node-daemon.ts';
import type { DaemonTimes } from './daemon-times.ts';
import { Progress } from './progress.ts';
import { messageOf } from './message-of.ts';

export interface KeeperPorts {
  clock: Clock;
  /** Absent: the admin wants none. */
  watchdog?: WatchdogDevice;
  workload: WorkloadStopper;
  machine: MachineReset;
  record: KeepRecordStore;
  log: DaemonLog;
}

export interface KeeperOptions {
  bootID: string;
  /** The node is to take itself down when it is cut off. */
  fencesItself: boolean;
  times: DaemonTimes;
  /** The times by which it is to be opened are known, as far as they can be. */
  mayOpen(): boolean;
  /** When the storage that the workload writes to was found lost; undefined: it is not. */
  storageLostAtMs(): number | undefined;
}

export type WatchdogState = 'armed' | 'disarmed' | 'unreliable' | 'none';

/** A machine that slept shows it by the boot-time clock, which runs on meanwhile. */
const SLEPT_MS = 500;
const RESET_AGAIN_MS = 5_000;
const OPEN_AGAIN_MS = 30_000;
/** One that an earlier process left armed bites soon. */
const OPEN_LEFT_AGAIN_MS = 1_000;
const NOWAYOUT = 'the watchdog cannot be disarmed (nowayout): it resets the machine whenever no daemon runs for longer than it waits';
const STILL_FENCES = 'self-fencing was switched off while the watchdog was armed: the node goes on with it until its next clean stop';
const MAY_HAVE_FENCED =
  'an older version left the watchdog armed and did not record whether the node fences itself: it does until its next clean stop';

/** Feeds the watchdog while the node is kept up and the daemon gets on; takes the node down when it is cut off. One `tick` decides; nothing else acts. */
export class Keeper {
  readonly progress: Progress;
  readonly #ports: KeeperPorts;
  readonly #options: KeeperOptions;
  #keptUntilMs: number | undefined;
  #stoppingSinceMs: number | undefined;
  #stoppingCause: SelfFenceCause | undefined;
  #known: KnownOthers | undefined;
  #isStopping = false;
  #isWorkloadStopped = false;
  #hasSlept = false;
  #facts: WatchdogFacts | undefined;
  #problem: string | undefined;
  /** unread: it is open and fed, and how long it waits is not read yet. */
  #opening: 'closed' | 'opening' | 'unread' | 'open' = 'closed';
  /** An earlier process of this boot left it armed, and this one has neither opened it nor said that it is disarmed. */
  #isLeftArmed = false;
  #leftDevice: string | undefined;
  #opened: Promise<void> = Promise.resolve();
  #openedAtMs = Number.NEGATIVE_INFINITY;
  #fedAtMs = Number.NEGATIVE_INFINITY;
  #feeds = 0;
  #resetAtMs = Number.NEGATIVE_INFINITY;
  #asleepMs: number;
  #phase: SelfFencePhase = 'waiting';
  /** Why what must outlive this process is not written. */
  #recordProblem: string | undefined;
  /** An earlier process of this boot did, and has not taken it back in front of the API server. */
  #mustFenceItself = false;
  #whyItMust = STILL_FENCES;
  #stuck = '';

  constructor(ports: KeeperPorts, options: KeeperOptions) {
    this.#ports = ports;
    this.#options = options;
    this.#asleepMs = asleepMs(momentOf(ports.clock));
    this.progress = new Progress(ports.clock);
  }

  /** What an earlier process of this boot left. Nothing is opened before. */
  async restore(): Promise<KeepRecord | undefined> {
    const record = await this.#ports.record.read();
    // Where no watchdog was left armed nobody rests on what an earlier process knew, unless it was already stopping the pods.
    if (record?.isArmed === true) this.#keptUntilMs = record.keptUntilMs;
    this.#isLeftArmed = record?.isArmed === true;
    this.#leftDevice = record?.device;
    // A sleep between two processes is a sleep for whoever rests on the watchdog that was left armed.
    if (record?.isArmed === true) this.#asleepMs = Math.min(this.#asleepMs, record.asleepMs ?? Number.POSITIVE_INFINITY);
    if (record?.times !== undefined && (record.isArmed || record.stoppingSinceMs !== undefined)) this.#options.times.restore(record.times);
    // Where it is not known others may rest on it all the same.
    this.#mustFenceItself = record !== undefined && record.fencesItself !== false && (record.isArmed || record.stoppingSinceMs !== undefined);
    if (record?.fencesItself === undefined) this.#whyItMust = MAY_HAVE_FENCED;
    this.#stoppingSinceMs = record?.stoppingSinceMs;
    this.#stoppingCause = record?.stoppingCause;
    this.#known = record?.known;
    if (this.#ports.watchdog === undefined) this.#problem = 'no watchdog is configured';
    else await this.#readFacts(this.#ports.watchdog);
    return record;
  }

  get phase(): SelfFencePhase {
    return this.#phase;
  }

  get facts(): WatchdogFacts | undefined {
    return this.#facts;
  }

  get problem(): string | undefined {
    return this.#problem ?? this.#recordProblem ?? (this.#mustFenceItself && !this.#options.fencesItself ? this.#whyItMust : undefined);
  }

  /** The node takes itself down when it is cut off. Others rest on that as long as its watchdog is attested as armed, whatever is configured since. */
  get fencesItself(): boolean {
    return this.#options.fencesItself || this.#mustFenceItself;
  }

  get keptUntilMs(): number | undefined {
    return this.#keptUntilMs;
  }

  /** How often this process fed the watchdog. */
  get feeds(): number {
    return this.#feeds;
  }

  get watchdogState(): WatchdogState {
    if (this.#facts === undefined) return 'none';
    if (this.#opening !== 'open') return 'disarmed';
    // A process that is started anew would not know what others rest on.
    return this.#goesOnAlone && this.#recordProblem === undefined ? 'armed' : 'unreliable';
  }

  /** Its driver goes on counting when this process dies. */
  get #goesOnAlone(): boolean {
    return this.#opening === 'open' && (this.#facts?.outlivesClose === true || this.#facts?.isNowayout === true);
  }

  /** Nobody would feed it but this process. */
  get #isRunning(): boolean {
    return this.#opening === 'open' || this.#opening === 'unread';
  }

  /** A grant, or enough vouches, until then on the running clock. Relied on from the next tick, when it is recorded. */
  keep(untilMs: number): void {
    if (untilMs <= (this.#keptUntilMs ?? Number.NEGATIVE_INFINITY)) return;
    this.#options.times.fix();
    this.#keptUntilMs = untilMs;
    this.#write();
  }

  remember(known: KnownOthers): void {
    this.#known = known;
    this.#write();
  }

  /** Says whether the machine slept since the last one: what was asked before is not to be relied on. */
  tick(): { hasSlept: boolean } {
    const now = momentOf(this.#ports.clock);
    const hasSlept = this.#noticeSleep(now);
    this.#act(now.monotonicMs);
    return { hasSlept };
  }

  #act(nowMs: number): void {
    const decision = this.fencesItself ? this.#decide(nowMs) : { phase: 'kept' as const, feedUntilMs: Number.POSITIVE_INFINITY };
    this.#change(decision);
    if (decision.phase === 'stopping') this.#stopWorkload(nowMs, decision);
    if (decision.phase === 'down') {
      this.#reset(nowMs, decision.cause ?? 'cut off');
      return;
    }
    if (decision.phase !== 'waiting') this.#open(nowMs);
    this.#feed(nowMs, decision.feedUntilMs);
  }

  /** After the API server has accepted that it is disarmed. Rejects where the driver cannot be stopped. */
  async disarm(): Promise<void> {
    // One that is being opened just now would be armed with nobody left to feed it.
    await this.#opened;
    if (this.#opening === 'closed' && !this.#isLeftArmed) return;
    if (this.#opening !== 'closed') await this.#ports.watchdog?.disarm();
    this.#opening = 'closed';
    this.#isLeftArmed = false;
    this.#write();
  }

  #decide(nowMs: number): SelfFenceDecision {
    const storageLostAtMs = this.#options.storageLostAtMs();
    const inputs = {
      nowMs,
      ...(storageLostAtMs === undefined ? {} : { storageLostAtMs }),
      ...(this.#stoppingCause === undefined ? {} : { stoppingCause: this.#stoppingCause }),
      isWorkloadStopped: this.#isWorkloadStopped,
      hasSleptUnexpectedly: this.#hasSlept,
      ...(this.#keptUntilMs === undefined ? {} : { keptUntilMs: this.#keptUntilMs }),
      ...(this.#stoppingSinceMs === undefined ? {} : { stoppingSinceMs: this.#stoppingSinceMs }),
    };
    return decideSelfFence(inputs, this.#options.times.current);
  }

  /** The running clock stood still: what kept the node up is over for everybody else. */
  #noticeSleep(now: Moment): boolean {
    const sleptMs = asleepMs(now) - this.#asleepMs;
    if (sleptMs <= SLEPT_MS) return false;
    this.#asleepMs = asleepMs(now);
    const isUnexpected = (this.#goesOnAlone || this.#isLeftArmed) && this.#facts?.isPausable === false;
    this.#ports.log.warn('the machine slept', {
      durationMs: sleptMs,
      ...(isUnexpected && { problem: 'the daemon attested that it cannot' }),
    });
    if (isUnexpected) this.#hasSlept = true;
    if (this.#keptUntilMs !== undefined) this.#keptUntilMs = Math.min(this.#keptUntilMs, now.monotonicMs);
    return true;
  }

  #change({ phase, cause }: Pick<SelfFenceDecision, 'phase' | 'cause'>): void {
    if (phase === this.#phase) return;
    const from = this.#phase;
    this.#phase = phase;
    if (this.fencesItself)
      this.#ports.log[phase === 'kept' ? 'info' : 'warn']('the self-fence changed its phase', {
        from,
        to: phase,
        ...(cause === undefined ? {} : { reason: cause }),
      });
  }

  #stopWorkload(nowMs: number, { feedUntilMs: untilMs, cause }: SelfFenceDecision): void {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#stoppingSinceMs ??= nowMs;
    this.#stoppingCause ??= cause;
    this.#write();
    const { workload, log } = this.#ports;
    workload.stop(Math.max(0, untilMs - nowMs), new AbortController().signal).then(
      (state) => {
        this.#isWorkloadStopped = state === 'stopped';
        if (state === 'stopped') log.warn('the pods were stopped');
        else log.error('some pods still run, and end with the reset of the machine');
      },
      (error: unknown) => log.error('the pods could not be stopped', { error: String(error) }),
    );
  }

  #open(nowMs: number): void {
    const { watchdog, log } = this.#ports;
    const isDue = this.#opening === 'closed' || this.#opening === 'unread';
    const againMs = this.#isLeftArmed ? OPEN_LEFT_AGAIN_MS : OPEN_AGAIN_MS;
    if (watchdog === undefined || !this.#options.mayOpen() || !isDue || nowMs - this.#openedAtMs < againMs) return;
    this.#openedAtMs = nowMs;
    if (this.#facts === undefined || this.#opening === 'unread') {
      void this.#readFacts(watchdog);
      return;
    }
    this.#opening = 'opening';
    this.#options.times.fix();
    this.#opened = watchdog.open(this.#options.times.current.watchdogMs).then(
      () => {
        // The driver may wait otherwise than it was asked to: what it says now is what counts, and is attested. It runs already.
        this.#opening = 'unread';
        this.#isLeftArmed = false;
        this.#write();
        void this.#readFacts(watchdog);
      },
      (error: unknown) => {
        this.#opening = 'closed';
        if (this.#problem !== String(error)) log.error('the watchdog could not be opened', { error: String(error) });
        this.#problem = String(error);
      },
    );
  }

  /** A driver may be loaded after the daemon was started. */
  async #readFacts(watchdog: WatchdogDevice): Promise<void> {
    const facts = await watchdog.facts().catch((error: unknown) => ({ problem: `what the watchdog is could not be read: ${messageOf(error)}` }));
    if ('problem' in facts) {
      if (facts.problem !== this.#problem) this.#ports.log.error('the watchdog could not be read', { error: facts.problem });
      this.#problem = facts.problem;
      return;
    }
    this.#problem = undefined;
    this.#facts = facts;
    if (this.#opening !== 'unread') return;
    this.#opening = 'open';
    this.#write();
    const { device, timeoutMs } = facts;
    this.#ports.log.info('the watchdog is armed', { device, timeoutMs });
    if (facts.isNowayout) this.#ports.log.warn(NOWAYOUT, { device, timeoutMs });
  }

  #feed(nowMs: number, untilMs: number): void {
    // A driver may wait for less than it was asked to.
    const intervalMs = Math.min(this.#options.times.current.feedIntervalMs, (this.#facts?.timeoutMs ?? Number.POSITIVE_INFINITY) / 3);
    if (!this.#isRunning || nowMs > untilMs || nowMs - this.#fedAtMs < intervalMs) return;
    const stuck = this.progress.stuck().join(', ');
    if (stuck !== this.#stuck && stuck !== '') this.#ports.log.error('a check does not get on, so the watchdog is not fed', { problem: stuck });
    this.#stuck = stuck;
    if (stuck !== '') return;
    // A process that was put aside since this turn began feeds nothing that has had its time.
    if (this.#ports.clock.monotonicMs() > untilMs) return;
    try {
      this.#ports.watchdog?.feed();
      this.#fedAtMs = nowMs;
      this.#feeds += 1;
    } catch (error) {
      // It is tried again at the next tick; a watchdog that cannot be fed resets the machine, and somebody must know why.
      const problem = `the watchdog could not be fed: ${messageOf(error)}`;
      if (problem !== this.#problem) this.#ports.log.error('the watchdog could not be fed', { error: problem });
      this.#problem = problem;
    }
  }

  #reset(nowMs: number, cause: string): void {
    if (nowMs - this.#resetAtMs < RESET_AGAIN_MS) return;
    this.#resetAtMs = nowMs;
    this.#ports.log.error('the machine is reset', { reason: cause });
    this.#ports.machine.reset(cause);
  }

  #write(): void {
    const { record, log } = this.#ports;
    // Others rest on what an earlier process attested until this one has spoken.
    const isArmed = this.#isRunning || this.#isLeftArmed;
    const device = isArmed ? (this.#facts?.device ?? this.#leftDevice) : undefined;
    try {
      record.write({
        bootID: this.#options.bootID,
        isArmed,
        ...(device === undefined ? {} : { device }),
        asleepMs: this.#asleepMs,
        fencesItself: this.fencesItself,
        times: timesOf(this.#options.times.current),
        ...(this.#keptUntilMs === undefined ? {} : { keptUntilMs: this.#keptUntilMs }),
        ...(this.#stoppingSinceMs === undefined ? {} : { stoppingSinceMs: this.#stoppingSinceMs }),
        ...(this.#stoppingCause === undefined ? {} : { stoppingCause: this.#stoppingCause }),
        ...(this.#known === undefined ? {} : { known: this.#known }),
      });
      this.#recordProblem = undefined;
    } catch (error) {
      const problem = `what must outlive this process cannot be written, so its watchdog counts as unreliable: ${messageOf(error)}`;
      if (problem !== this.#recordProblem) log.error('what must outlive this process cannot be written', { error: messageOf(error) });
      this.#recordProblem = problem;
    }
  }
}

/** How long the machine has slept since it booted, and before that whatever the two clocks began with. */
function asleepMs({ bootMs, monotonicMs }: Moment): number {
  return bootMs - monotonicMs;
}

function timesOf({ grantMs, watchdogMs, isolationTimeoutMs, podStopMaxMs, resetTimeMs }: DaemonTimes['current']): WrittenTimes {
  return { grantMs, watchdogMs, isolationTimeoutMs, podStopMaxMs, resetTimeMs };
}
