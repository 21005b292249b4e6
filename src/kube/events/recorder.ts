import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { EventMetrics } from '../../ports/metrics.ts';
import type { KubeObject } from '../../ports/objects.ts';
import type { Random } from '../../ports/random.ts';
import type { Logger, Recorder } from '../../ports/recorder.ts';
import { EVENTS } from '../../ports/resources.ts';
import { backOffMs } from '../../domain/back-off.ts';
import { TokenBucket } from '../token-bucket.ts';
import { eventObject, eventTime } from './event-object.ts';
import type { EventObject } from './event-object.ts';
import { RANKS, importanceOf, rankOf } from './importance.ts';
import type { Importance } from './importance.ts';
import { LostEvents } from './lost-events.ts';
import { RankedQueue } from './ranked-queue.ts';

/** The same words about the same object within this time are counted, not repeated. */
const SAME_WITHIN_MS = 600_000;
const REMEMBERED_MAX = 4096;
const QUEUE_MAX = 4096;
/** One is sent after the other while so few wait that one by one will do: what is done to nodes shares the server with them. */
const WAITING_PER_LANE = 50;
const LANES_MAX = 4;
/** So often it may fail while others are written: then it is its own fault. */
const TRIES_MAX = 3;
/** The server keeps an Event for an hour. */
const KEPT_MS = 3_600_000;
const RETRY_MS = 1000;
const RETRY_MOST_MS = 15_000;
/** Whatever is told of a failed node leaves after what is done to it: its first requests have the connection and the server to themselves. */
const AFTER_MS = 100;
const BURST_PER_OBJECT = 50;
const EVENTS_PER_SECOND_PER_OBJECT = 0.1;

/** One Event that we wrote or are about to write. */
interface Remembered {
  event: EventObject;
  importance: Importance;
  seenAtMs: number;
  /** Its `count` as the server has it; 0: not created. */
  writtenCount: number;
  /** In the queue or on its way: it is in one place at most. */
  isUnderWay: boolean;
  /** Since it was tried in vain; `written`: how many had been by then. */
  failing: { sinceMs: number; tries: number; written: number } | undefined;
}

export interface EventRecorderOptions {
  cluster: Pick<Cluster, 'create' | 'mergePatch'>;
  clock: Clock;
  random: Random;
  logger: Logger;
  metrics: EventMetrics;
  /** `nodefence-controller`. */
  component: string;
  /** Name of this process. */
  instance: string;
  /** What an Event on Events that were lost is about. Without it the log and the metric tell alone. */
  home?: KubeObject;
}

/**
 * Kubernetes Events. Nothing here is ever waited for or thrown: a lost Event loses no decision. When more come than the server takes, those that a
 * person must see go first, and those that nobody misses are dropped, counted and told of.
 */
export class EventRecorder implements Recorder {
  readonly #options: EventRecorderOptions;
  readonly #remembered = new Map<string, Remembered>();
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #queue = new RankedQueue<Remembered>(RANKS, QUEUE_MAX);
  readonly #lost: LostEvents;
  readonly #closing = new AbortController();
  #sending: Promise<void> | undefined;
  #sendNow: () => void = () => undefined;
  /** Whether the last answer of the server was one: while it is away one Event at a time is tried. */
  #isAnswering = true;
  /** Tries in a row that came to nothing, one after the other. */
  #vain = 0;
  #written = 0;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#lost = new LostEvents(options);
  }

  event(about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { clock, logger } = this.#options;
    const { uid, name } = about.metadata;
    const importance = importanceOf(type, reason);
    if (about.kind === undefined || about.apiVersion === undefined) {
      this.#lost.add('failed', importance);
      logger.error('an Event needs kind and apiVersion of its object', { object: name, reason });
      return;
    }
    // Each importance has its own: noise about an object leaves room for what a person must see of it.
    if (!this.#bucketOf(`${importance}/${about.kind}/${uid ?? name}`).tryTake()) {
      this.#lost.add('rate-limited', importance);
      return;
    }
    const key = JSON.stringify([about.kind, uid ?? name, type, reason, message]);
    const known = this.#remembered.get(key);
    const nowMs = clock.monotonicMs();
    if (known !== undefined && nowMs - known.seenAtMs < SAME_WITHIN_MS) {
      known.event.count += 1;
      known.event.lastTimestamp = eventTime(clock);
      known.seenAtMs = nowMs;
      this.#remember(key, known);
      this.#enqueue(known);
      return;
    }
    const { component, instance, random } = this.#options;
    const id = random.uuid().replaceAll('-', '').slice(0, 16);
    const said = { type, reason, message, at: eventTime(clock), id };
    const event = eventObject({ ...about, kind: about.kind, apiVersion: about.apiVersion }, said, { component, instance });
    const fresh: Remembered = { event, importance, seenAtMs: nowMs, writtenCount: 0, isUnderWay: false, failing: undefined };
    this.#remember(key, fresh);
    this.#enqueue(fresh);
  }

  /** Sends what is queued, for at most `deadlineMs`, then drops the rest. */
  async close(deadlineMs: number): Promise<void> {
    this.#sendNow();
    const cancel = this.#options.clock.after(deadlineMs, () => {
      this.#closing.abort(new Error('the recorder is closed'));
    });
    await Promise.race([this.#sending, new Promise((resolve) => this.#closing.signal.addEventListener('abort', resolve, { once: true }))]);
    cancel();
    this.#closing.abort(new Error('the recorder is closed'));
    this.#queue.clear();
  }

  #bucketOf(object: string): TokenBucket {
    const bucket =
      this.#buckets.get(object) ?? new TokenBucket(this.#options.clock, { ratePerSecond: EVENTS_PER_SECOND_PER_OBJECT, burst: BURST_PER_OBJECT });
    this.#buckets.delete(object);
    // One that is full again does what a new one does.
    dropOldest(this.#buckets, (oldest) => oldest.isFull);
    this.#buckets.set(object, bucket);
    return bucket;
  }

  #remember(key: string, remembered: Remembered): void {
    this.#remembered.delete(key);
    dropOldest(this.#remembered, ({ seenAtMs }) => remembered.seenAtMs - seenAtMs >= SAME_WITHIN_MS);
    this.#remembered.set(key, remembered);
  }

  #enqueue(remembered: Remembered): void {
    if (remembered.isUnderWay || this.#closing.signal.aborted) {
      return;
    }
    remembered.isUnderWay = true;
    const dropped = this.#queue.push(remembered, rankIn(remembered));
    if (dropped !== undefined) {
      dropped.isUnderWay = false;
      this.#lost.add('queue-full', dropped.importance);
    }
    this.#sending ??= this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(AFTER_MS, resolve);
      this.#sendNow = () => {
        cancel();
        resolve();
      };
    });
    const helpers = new Set<Promise<void>>();
    do {
      for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
        const sending = this.#sendWithRetries(next);
        while (this.#isAnswering && helpers.size < Math.min(LANES_MAX - 1, Math.floor(this.#queue.size / WAITING_PER_LANE))) {
          const helper = this.#help().finally(() => helpers.delete(helper));
          helpers.add(helper);
        }
        await sending;
      }
      await Promise.all(helpers);
      if (this.#queue.size === 0) this.#tellLost();
    } while (this.#queue.size > 0);
    this.#sending = undefined;
  }

  /** Sends beside the first until nothing waits or the server does not answer: to try again is for one alone. */
  async #help(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      if (await this.#try(next)) {
        this.#queue.putBack(next, rankIn(next));
        return;
      }
    }
  }

  /** Where one goes on failing the next one is tried too, which shows whose fault it is. */
  async #sendWithRetries(remembered: Remembered): Promise<void> {
    const { clock, logger } = this.#options;
    while (await this.#try(remembered)) {
      this.#vain += 1;
      await clock.sleep(backOffMs(this.#vain, RETRY_MS, RETRY_MOST_MS), this.#closing.signal).catch((error: unknown) => {
        logger.debug('closed before an Event was sent', { error });
      });
      if ((remembered.failing?.tries ?? 0) >= TRIES_MAX) await this.#tryNext();
    }
  }

  async #tryNext(): Promise<void> {
    const next = this.#queue.shift();
    if (next !== undefined && (await this.#try(next))) this.#queue.putBack(next, rankIn(next));
  }

  /** Whether it is to be tried again. */
  async #try(remembered: Remembered): Promise<boolean> {
    const { metrics, logger } = this.#options;
    const { count, reason } = remembered.event;
    try {
      metrics.event(await this.#send(remembered), remembered.importance);
      remembered.writtenCount = count;
      remembered.failing = undefined;
      this.#isAnswering = true;
      this.#vain = 0;
      this.#written += 1;
    } catch (error) {
      this.#isAnswering = !isWorthAnother(error);
      if (!this.#isAnswering && this.#mayAgain(remembered)) return true;
      remembered.failing = undefined;
      this.#lost.add('failed', remembered.importance);
      logger.warn('an Event was lost', { reason, error });
    }
    remembered.isUnderWay = false;
    // It was counted on while it was on its way.
    if (remembered.writtenCount > 0 && remembered.event.count > count) this.#enqueue(remembered);
    return false;
  }

  /** While the server takes none at all nothing is lost. */
  #mayAgain(remembered: Remembered): boolean {
    if (this.#closing.signal.aborted) return false;
    const nowMs = this.#options.clock.monotonicMs();
    const failing = (remembered.failing ??= { sinceMs: nowMs, tries: 0, written: this.#written });
    failing.tries += 1;
    return failing.tries < TRIES_MAX || (failing.written === this.#written && nowMs - failing.sinceMs < KEPT_MS);
  }

  async #send({ event, writtenCount }: Remembered): Promise<'created' | 'counted'> {
    const { cluster } = this.#options;
    const { name, namespace = 'default' } = event.metadata;
    if (writtenCount > 0) {
      try {
        await cluster.mergePatch(EVENTS, name, { count: event.count, lastTimestamp: event.lastTimestamp }, { namespace });
        return 'counted';
      } catch (error) {
        if (!(error instanceof ApiStatusError) || error.status !== 404) {
          throw error;
        }
      }
    }
    try {
      await cluster.create(EVENTS, event);
    } catch (error) {
      // The answer to an earlier try was lost.
      if (!(error instanceof ApiStatusError) || error.status !== 409) {
        throw error;
      }
    }
    return 'created';
  }

  #tellLost(): void {
    const { home } = this.#options;
    const message = this.#closing.signal.aborted ? undefined : this.#lost.tell();
    if (message !== undefined && home !== undefined) this.event(home, 'Warning', 'EventsLost', message);
  }
}

function rankIn({ event, importance }: Remembered): number {
  return rankOf(importance, event.involvedObject.kind);
}

function isWorthAnother(error: unknown): boolean {
  return error instanceof TransportError || (error instanceof ApiStatusError && (error.status === 429 || error.status >= 500));
}

/** Those of no more use, and what there is no room for beside another one. A Map keeps the order of insertion: the first key is the oldest. */
function dropOldest<T>(map: Map<string, T>, isOfNoUse: (oldest: T) => boolean): void {
  for (const [key, oldest] of map) {
    if (map.size < REMEMBERED_MAX && !isOfNoUse(oldest)) {
      return;
    }
    map.delete(key);
  }
}
