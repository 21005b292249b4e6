import { ApiStatusError, TransportError } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { EventMetrics } from '../ports/metrics.ts';
import type { KubeObject } from '../ports/objects.ts';
import type { Random } from '../ports/random.ts';
import type { Logger, Recorder } from '../ports/recorder.ts';
import { EVENTS } from '../ports/resources.ts';
import { TokenBucket } from './token-bucket.ts';

/** The same words about the same object within this time are counted, not repeated. */
const SAME_WITHIN_MS = 600_000;
const REMEMBERED_MAX = 4096;
const QUEUE_MAX = 1000;
const TRIES_MAX = 3;
const RETRY_MS = 1000;
/** Whatever is told of a failed node leaves after what is done to it: its first requests have the connection and the server to themselves. */
const AFTER_MS = 100;
/** The API server refuses longer ones. */
const MESSAGE_MAX = 1024;
const BURST_PER_OBJECT = 50;
const EVENTS_PER_SECOND_PER_OBJECT = 0.1;

/** events.v1, as far as we write it. */
interface EventObject extends KubeObject {
  involvedObject: { apiVersion: string; kind: string; name: string; namespace?: string; uid?: string; resourceVersion?: string };
  reason: string;
  message: string;
  type: 'Normal' | 'Warning';
  count: number;
  firstTimestamp: string;
  lastTimestamp: string;
  source: { component: string };
  reportingComponent: string;
  reportingInstance: string;
}

/** One Event that we wrote or are about to write. */
interface Remembered {
  event: EventObject;
  seenAtMs: number;
  isCreated: boolean;
  isQueued: boolean;
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
}

/** Kubernetes Events. Nothing here is ever waited for or thrown: a lost Event loses no decision. */
export class EventRecorder implements Recorder {
  readonly #options: EventRecorderOptions;
  readonly #remembered = new Map<string, Remembered>();
  readonly #buckets = new Map<string, TokenBucket>();
  readonly #queue: Remembered[] = [];
  readonly #closing = new AbortController();
  #sending: Promise<void> | undefined;
  #sendNow: () => void = () => undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  event(about: KubeObject, type: 'Normal' | 'Warning', reason: string, message: string): void {
    const { clock, metrics, logger } = this.#options;
    const { uid, name } = about.metadata;
    if (about.kind === undefined || about.apiVersion === undefined) {
      metrics.event('failed');
      logger.error('an Event needs kind and apiVersion of its object', { object: name, reason });
      return;
    }
    if (!this.#bucketOf(`${about.kind}/${uid ?? name}`).tryTake()) {
      metrics.event('rate-limited');
      return;
    }
    const key = JSON.stringify([about.kind, uid ?? name, type, reason, message]);
    const known = this.#remembered.get(key);
    const nowMs = clock.monotonicMs();
    if (known !== undefined && nowMs - known.seenAtMs < SAME_WITHIN_MS) {
      known.event.count += 1;
      known.event.lastTimestamp = this.#timestamp();
      known.seenAtMs = nowMs;
      this.#enqueue(known);
      return;
    }
    const event = this.#compose({ ...about, kind: about.kind, apiVersion: about.apiVersion }, type, reason, message);
    const fresh: Remembered = { event, seenAtMs: nowMs, isCreated: false, isQueued: false };
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
    this.#queue.length = 0;
  }

  #bucketOf(object: string): TokenBucket {
    const bucket =
      this.#buckets.get(object) ?? new TokenBucket(this.#options.clock, { ratePerSecond: EVENTS_PER_SECOND_PER_OBJECT, burst: BURST_PER_OBJECT });
    this.#buckets.delete(object);
    this.#buckets.set(object, bucket);
    dropOldest(this.#buckets, REMEMBERED_MAX);
    return bucket;
  }

  #remember(key: string, fresh: Remembered): void {
    this.#remembered.delete(key);
    this.#remembered.set(key, fresh);
    dropOldest(this.#remembered, REMEMBERED_MAX);
  }

  #compose(about: KubeObject & { kind: string; apiVersion: string }, type: 'Normal' | 'Warning', reason: string, message: string): EventObject {
    const { component, instance, random } = this.#options;
    const { name, namespace, uid, resourceVersion } = about.metadata;
    const now = this.#timestamp();
    return {
      metadata: { name: `${name}.${random.uuid().replaceAll('-', '').slice(0, 16)}`, namespace: namespace ?? 'default' },
      involvedObject: {
        apiVersion: about.apiVersion,
        kind: about.kind,
        name,
        ...(namespace === undefined ? {} : { namespace }),
        ...(uid === undefined ? {} : { uid }),
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
      },
      reason,
      message: message.length <= MESSAGE_MAX ? message : `${message.slice(0, MESSAGE_MAX - 1)}…`,
      type,
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
    };
  }

  /** metav1.Time has whole seconds. */
  #timestamp(): string {
    return new Date(this.#options.clock.wallMs()).toISOString().replace(/\.\d{3}Z$/, 'Z');
  }

  #enqueue(remembered: Remembered): void {
    if (remembered.isQueued || this.#closing.signal.aborted) {
      return;
    }
    if (this.#queue.length >= QUEUE_MAX) {
      this.#options.metrics.event('queue-full');
      return;
    }
    remembered.isQueued = true;
    this.#queue.push(remembered);
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#options.clock.after(AFTER_MS, resolve);
      this.#sendNow = () => {
        cancel();
        resolve();
      };
    });
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      next.isQueued = false;
      await this.#sendWithRetries(next);
    }
  }

  async #sendWithRetries(remembered: Remembered): Promise<void> {
    const { clock, metrics, logger } = this.#options;
    for (let tries = 1; ; tries++) {
      try {
        metrics.event(await this.#send(remembered));
        return;
      } catch (error) {
        if (tries >= TRIES_MAX || !isWorthAnother(error) || this.#closing.signal.aborted) {
          metrics.event('failed');
          logger.warn('an Event was lost', { reason: remembered.event.reason, error });
          return;
        }
      }
      await clock.sleep(RETRY_MS * 2 ** (tries - 1), this.#closing.signal).catch((error: unknown) => {
        logger.debug('closed before an Event was sent', { error });
      });
    }
  }

  async #send(remembered: Remembered): Promise<'created' | 'counted'> {
    const { cluster } = this.#options;
    const { event } = remembered;
    const { name, namespace = 'default' } = event.metadata;
    if (remembered.isCreated) {
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
    remembered.isCreated = true;
    return 'created';
  }
}

function isWorthAnother(error: unknown): boolean {
  return error instanceof TransportError || (error instanceof ApiStatusError && (error.status === 429 || error.status >= 500));
}

/** A Map keeps the order of insertion: the first key is the oldest. */
function dropOldest(map: Map<string, unknown>, entriesMax: number): void {
  for (const key of map.keys()) {
    if (map.size <= entriesMax) {
      return;
    }
    map.delete(key);
  }
}
