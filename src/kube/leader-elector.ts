import { ApiStatusError } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Leadership, LeadershipRecords } from '../ports/leadership.ts';
import type { LeaseMetrics } from '../ports/metrics.ts';
import type { Lease } from '../ports/objects.ts';
import type { Random } from '../ports/random.ts';
import type { Logger } from '../ports/recorder.ts';
import { LEASES } from '../ports/resources.ts';
import { leaderDurations, MARGIN_MS, type LeaderDurations } from './leader-durations.ts';
import { claimed, emptied, observed, reasonToWait, renewed, restored, seen, waitBeforeTaking, type LeaseObservation } from './lease-record.ts';
import { momentOf, type Moment } from '../ports/moment.ts';
import { RepeatedWarnings } from './repeated-warnings.ts';
import { within } from './within.ts';

/** Boot-time and monotonic clock may differ by this much before the machine counts as having slept. */
const SUSPENDED_MS = 500;
/** To read thousands of them may take longer than a Lease does. */
const RECORDS_DEADLINE_MS = 30_000;

export interface LeaderElectorOptions extends Partial<LeaderDurations> {
  cluster: Pick<Cluster, 'get' | 'create' | 'replace'>;
  clock: Clock;
  random: Random;
  logger: Logger;
  metrics: LeaseMetrics;
  namespace: string;
  /** Of the Lease. */
  name: string;
  /** Of this process, for people; a fresh identifier is appended, so that a restarted process is not taken for its predecessor. */
  identity: string;
  /** What the Lease says of its holder while we are it. */
  annotations?: Readonly<Record<string, string>>;
  /** Of earlier leaders: our epoch is to be above theirs, also where their Lease is gone. Nobody leads before they are read. */
  records: LeadershipRecords;
  /** Asked before a Lease that nobody has held for so long is taken; `false`: another candidate goes first, and it is looked at again. */
  mayLead?: (freeForMs: number) => boolean;
  onAcquired: (epoch: number) => void;
  /** The Lease reads older than it was seen before: whatever was written since may be gone, and whatever was watched has a gap. */
  onWentBack?: (message: string) => void;
  /** The lease is lost: abort everything and end the process with a failure. Called once, never after `release`. */
  onLost: (reason: string) => void;
}

/** What is true while we lead. */
interface Term {
  lease: Lease;
  epoch: number;
  /** Monotonic and boot-time clock before the last successful write was sent. */
  sentAtMs: number;
  sentAtBootMs: number;
}

/** One leader by a coordination.k8s.io Lease. Leads at most once: after a loss or a release the process must end. */
export class LeaderElector implements Leadership {
  readonly identity: string;
  readonly #options: LeaderElectorOptions;
  readonly #warnings: RepeatedWarnings;
  readonly #durationMs: number;
  readonly #renewDeadlineMs: number;
  readonly #retryMs: number;
  readonly #closing = new AbortController();
  #wake: () => void = () => undefined;
  #isPoked = false;
  #observation: LeaseObservation | undefined;
  /** The newest Lease that was seen or written. */
  #newest: Lease | undefined;
  /** Of the first look that was answered since one was not; minus infinity while every look was. */
  #answeredSinceMs: number | undefined = Number.NEGATIVE_INFINITY;
  /** UID of the Lease beside which the records were read. */
  #recordsReadFor: string | undefined;
  /** Since when this candidate could have taken the Lease. */
  #freeSinceMs: number | undefined;
  #highestEpoch = 0;
  /** Whose standby this was last said to be. */
  #standsByFor: { holder: string | undefined } | undefined;
  #term: Term | undefined;
  /** Our name was sent to the Lease, and no loss followed: it may stand there. */
  #mayBeNamed = false;
  #actsFromMs = Number.POSITIVE_INFINITY;
  #cancelDeadline: (() => void) | undefined;
  #running: Promise<void> = Promise.resolve();
  #isStarted = false;

  constructor(options: LeaderElectorOptions) {
    this.#options = options;
    this.#warnings = new RepeatedWarnings(options);
    const { durationMs, renewDeadlineMs, retryMs } = leaderDurations(options);
    [this.#durationMs, this.#renewDeadlineMs, this.#retryMs] = [durationMs, renewDeadlineMs, retryMs];
    this.identity = `${options.identity}_${options.random.uuid()}`;
  }

  get epoch(): number {
    return this.isLeading ? (this.#term?.epoch ?? 0) : 0;
  }

  get isLeading(): boolean {
    return this.mayBegin(0);
  }

  get actsFromMs(): number {
    return this.#actsFromMs;
  }

  mayBegin(deadlineMs: number): boolean {
    const term = this.#term;
    if (term === undefined) return false;
    if (this.#sleptSince(term)) {
      this.#lose('the machine was suspended since the last renewal');
      return false;
    }
    return this.#options.clock.monotonicMs() + deadlineMs <= term.sentAtMs + this.#durationMs - MARGIN_MS;
  }

  start(): void {
    if (!this.#isStarted) {
      this.#isStarted = true;
      this.#running = this.#run();
    }
  }

  /** The Lease was seen to be free, or gone: a candidate looks at it now instead of at its next turn. */
  poke(): void {
    if (this.#term !== undefined) return;
    this.#isPoked = true;
    this.#wake();
  }

  /** Somebody held a Lease a moment ago: if a candidate never read it itself, its absence counts anew from its next look. */
  wasHeld(): void {
    if (this.#observation?.lease === undefined) this.#observation = undefined;
  }

  /** A watch has shown a renewal, before the next look would: its time runs from here. */
  saw(lease: Lease): void {
    if (this.#term === undefined) this.#observation = seen(this.#observation, lease, this.#options.clock.monotonicMs());
  }

  /** A record stands under a higher epoch than ours: the Lease that we give back says so to the next, who may have read the records before. */
  outrankedBy(epoch: number): void {
    this.#highestEpoch = Math.max(this.#highestEpoch, epoch);
  }

  /** Stands down and empties the Lease where it names us, also by a write that is answered now: a successor need not wait. Call it when nothing is in flight any more. */
  async release(deadlineMs = 5_000): Promise<void> {
    const untilMs = this.#options.clock.monotonicMs() + deadlineMs;
    this.close();
    await within(this.#options.clock, deadlineMs, this.#running).catch((error: unknown) => {
      this.#options.logger.warn('the last renewal did not end before the release', { error });
    });
    if (!this.#mayBeNamed) return;
    const restMs = Math.max(0, untilMs - this.#options.clock.monotonicMs());
    await within(this.#options.clock, restMs, this.#empty()).catch((error: unknown) => {
      this.#options.logger.warn('lease not released; the successor waits until it expires', { error });
    });
  }

  /** Stands down without telling anyone. */
  close(): void {
    this.#term = undefined;
    this.#cancelDeadline?.();
    this.#options.metrics.leading(false, 0);
    this.#closing.abort(new Error('leader election is closed'));
    this.#wake();
  }

  async #run(): Promise<void> {
    const { logger } = this.#options;
    while (!this.#isClosed()) {
      const delayMs = await (this.#term === undefined ? this.#campaign() : this.#renew());
      if (!this.#isClosed()) await this.#pause(delayMs);
    }
    logger.debug('leader election ended', {});
  }

  /** Ends early when the election is closed, or a candidate is poked. */
  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#options.clock.after(this.#isPoked ? 0 : delayMs, resolve);
      this.#isPoked = false;
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** One look at the Lease as a candidate. Returns the time until the next. */
  async #campaign(): Promise<number> {
    const { clock, random, logger, metrics } = this.#options;
    const pauseMs = this.#retryMs * (1 + 0.2 * random.next());
    try {
      const lease = await this.#readLease();
      this.#compare(lease);
      this.#observation = observed(this.#observation, lease, clock.monotonicMs());
      this.#highestEpoch = Math.max(this.#highestEpoch, lease?.spec.leaseTransitions ?? 0);
      await this.#readRecords(lease);
      // Our own write of which the answer was lost: nobody else has led since.
      const isOurs = lease?.spec.holderIdentity === this.identity;
      const waitMs = isOurs ? 0 : this.#waitMs(this.#observation);
      if (waitMs > 0) {
        this.#warnings.over('taken');
        this.#freeSinceMs = undefined;
        this.#logStandby(lease, waitMs);
        return Math.min(pauseMs, waitMs);
      }
      this.#freeSinceMs ??= clock.monotonicMs();
      if (!isOurs && this.#options.mayLead?.(clock.monotonicMs() - this.#freeSinceMs) === false) {
        this.#logStandby(lease, 0);
        logger.debug('the lease is free and left to another candidate', {});
        return pauseMs;
      }
      await this.#take(lease);
      return this.#retryMs;
    } catch (error) {
      // It exists, so somebody leads by it, also where it is deleted before the next look.
      if (error instanceof ApiStatusError && error.status === 409) this.wasHeld();
      metrics.renewFailed();
      this.#warnings.warn('taken', 'the lease could not be taken and will be tried again', error, { delayMs: pauseMs });
      return pauseMs;
    }
  }

  /** Keeps whether the API server was there at all: a refusal is an answer. */
  async #readLease(): Promise<Lease | undefined> {
    try {
      const lease = await this.#attempt(this.#read());
      this.#answeredSinceMs ??= this.#options.clock.monotonicMs();
      return lease;
    } catch (error) {
      if (!(error instanceof ApiStatusError)) this.#answeredSinceMs = undefined;
      throw error;
    }
  }

  /** While the API server was away, a holder may have renewed, or taken, what a restore of etcd then took away: its lease is waited out from the return on. */
  #waitMs(observation: LeaseObservation): number {
    const nowMs = this.#options.clock.monotonicMs();
    const waitMs = waitBeforeTaking(observation, this.#durationMs, nowMs);
    return Math.max(waitMs, (this.#answeredSinceMs ?? nowMs) + this.#durationMs - nowMs);
  }

  /** Once for each holder: a replica that waits is told from one that hangs. */
  #logStandby(lease: Lease | undefined, waitMs: number): void {
    const holder = lease === undefined ? undefined : (lease.spec.holderIdentity ?? '');
    if (this.#standsByFor !== undefined && this.#standsByFor.holder === holder) return;
    this.#standsByFor = { holder };
    this.#options.logger.info('standing by', { reason: reasonToWait(holder, waitMs) });
  }

  /** A Lease counts the terms under itself only. Those before it stand in the records; while there is none they are read at each look. */
  async #readRecords(lease: Lease | undefined): Promise<void> {
    if (lease !== undefined && lease.metadata.uid === this.#recordsReadFor) return;
    const { clock, records } = this.#options;
    const highest = await within(clock, RECORDS_DEADLINE_MS, records.highestEpoch());
    this.#highestEpoch = Math.max(this.#highestEpoch, highest);
    this.#recordsReadFor = lease?.metadata.uid;
  }

  async #take(existing: Lease | undefined): Promise<void> {
    if (this.#isClosed()) return;
    const { cluster, clock, namespace, name, metrics, annotations } = this.#options;
    const epoch = this.#highestEpoch + 1;
    const said = annotations === undefined ? {} : { annotations };
    const claim = { namespace, name, identity: this.identity, durationMs: this.#durationMs, epoch, ...said };
    const sent = this.#now();
    const lease = claimed(existing, claim, clock);
    this.#mayBeNamed = true;
    const written = await this.#attempt(existing === undefined ? cluster.create(LEASES, lease) : cluster.replace(LEASES, lease));
    if (this.#isClosed()) return;
    metrics.renewed(clock.monotonicMs() - sent.monotonicMs);
    this.#hold({ lease: written, epoch, sentAtMs: sent.monotonicMs, sentAtBootMs: sent.bootMs });
    this.#actsFromMs = clock.monotonicMs();
    metrics.leading(true, epoch);
    this.#options.logger.info('became leader', { epoch, identity: this.identity });
    this.#options.onAcquired(epoch);
  }

  /** One renewal. Returns the time until the next. */
  async #renew(): Promise<number> {
    const { cluster, clock, metrics } = this.#options;
    const term = this.#term;
    if (term === undefined || !this.#mayGoOn(term)) return this.#retryMs;
    const sent = this.#now();
    try {
      const written = await this.#attempt(cluster.replace(LEASES, renewed(term.lease, clock, term.epoch)));
      if (this.#term === term) {
        metrics.renewed(clock.monotonicMs() - sent.monotonicMs);
        this.#warnings.over('renewed');
        this.#hold({ ...term, lease: written, sentAtMs: sent.monotonicMs, sentAtBootMs: sent.bootMs });
      }
      return this.#retryMs;
    } catch (error) {
      metrics.renewFailed();
      this.#warnings.warn('renewed', 'the lease could not be renewed and will be tried again', error);
      if (error instanceof ApiStatusError && (error.status === 409 || error.status === 404)) return this.#reread(term);
      return this.#restOf(sent.monotonicMs);
    }
  }

  /** Somebody else wrote the Lease, or an answer to us was lost. Only its holder decides. */
  async #reread(term: Term): Promise<number> {
    const sinceMs = this.#options.clock.monotonicMs();
    try {
      const lease = await this.#attempt(this.#read());
      this.#compare(lease);
      if (this.#term !== term) return this.#retryMs;
      if (lease?.spec.holderIdentity !== this.identity || lease.metadata.uid !== term.lease.metadata.uid) {
        this.#lose(lease === undefined ? 'the Lease was deleted' : `the Lease is held by "${lease.spec.holderIdentity ?? ''}"`);
        return this.#retryMs;
      }
      this.#term = { ...term, lease };
      return this.#retryMs / 10;
    } catch (error) {
      this.#warnings.warn('renewed', 'the lease could not be read', error);
      return this.#restOf(sinceMs);
    }
  }

  /** What hung has cost its pause already: the next attempt has all of its time before the deadline. */
  #restOf(sinceMs: number): number {
    return Math.max(0, sinceMs + this.#retryMs - this.#options.clock.monotonicMs());
  }

  #compare(lease: Lease | undefined): void {
    const { logger, onWentBack } = this.#options;
    const message = restored(this.#newest, lease);
    this.#newest = lease;
    if (message === undefined) return;
    logger.error('the API server shows an older state than before', { resource: 'leases', error: message });
    onWentBack?.(message);
  }

  #hold(term: Term): void {
    this.#term = term;
    this.#newest = term.lease;
    this.#cancelDeadline?.();
    const restMs = term.sentAtMs + this.#renewDeadlineMs - this.#options.clock.monotonicMs();
    this.#cancelDeadline = this.#options.clock.after(restMs, () => {
      this.#lose(`it was not renewed for ${String(this.#renewDeadlineMs)} ms`);
    });
  }

  /** A process that stood still may come here long after its deadline, before the timer that should have said so. */
  #mayGoOn(term: Term): boolean {
    if (this.#options.clock.monotonicMs() - term.sentAtMs >= this.#renewDeadlineMs) {
      this.#lose(`it was not renewed for ${String(this.#renewDeadlineMs)} ms`);
      return false;
    }
    if (this.#sleptSince(term)) {
      this.#lose('the machine was suspended since the last renewal');
      return false;
    }
    return true;
  }

  #sleptSince(term: Term): boolean {
    const { bootMs, monotonicMs } = this.#now();
    return Math.abs(bootMs - term.sentAtBootMs - (monotonicMs - term.sentAtMs)) > SUSPENDED_MS;
  }

  /** No set begins from here on. The owner is told in a turn of its own: this may run inside the turn of a socket write. */
  #lose(reason: string): void {
    if (this.#term === undefined) return;
    this.close();
    this.#mayBeNamed = false;
    this.#options.logger.error('lost the lease', { reason });
    void Promise.resolve().then(() => {
      this.#options.onLost(reason);
    });
  }

  async #empty(): Promise<void> {
    const lease = await this.#read();
    if (lease?.spec.holderIdentity === this.identity) {
      await this.#options.cluster.replace(LEASES, emptied(lease, this.#options.clock, this.#highestEpoch));
      this.#options.logger.info('released the lease', {});
    }
  }

  #read(): Promise<Lease | undefined> {
    return this.#options.cluster.get(LEASES, this.#options.name, this.#options.namespace);
  }

  /** Two attempts must fit before the renew deadline. A late answer to an attempt that was given up changes nothing. */
  #attempt<T>(work: Promise<T>): Promise<T> {
    return within(this.#options.clock, (this.#renewDeadlineMs - this.#retryMs) / 2, work);
  }

  #now(): Moment {
    return momentOf(this.#options.clock);
  }
}
