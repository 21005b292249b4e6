import { ApiStatusError, TransportError, type ApiTransport, type WatchEvent } from '../ports/api-transport.ts';
import type { Clock } from '../ports/clock.ts';
import type { Lister, ListOptions, Resource } from '../ports/cluster.ts';
import type { WatchEnd, WatchMetrics } from '../ports/metrics.ts';
import type { KubeObject } from '../ports/objects.ts';
import type { Random } from '../ports/random.ts';
import type { Logger } from '../ports/recorder.ts';
import { fullJitter } from './backoff.ts';
import { INITIAL_EVENTS_QUERY, InitialEvents } from './initial-events.ts';
import type { Indexers } from './lister.ts';
import { acceptFor, JSON_ONLY } from './protobuf/kinds.ts';
import { currentVersion, listPages, selectors, type PagedListOptions } from './paged-list.ts';
import { REFLECTOR_TIMINGS, type ReflectorTimings } from './reflector-timings.ts';
import { keyOf, pathOf } from './resource-path.ts';
import { RepeatedWarnings } from './repeated-warnings.ts';
import { isOlder } from './resource-version.ts';
import { needsRelist, refusesInitialEvents } from './status.ts';
import { Silences } from './silences.ts';
import { runWatch, type WatchResult } from './watch-session.ts';
import { WatchedState } from './watched-state.ts';

/** Told of a watch, with the words of its end. */
const KEPT_BACK = 'watches bring nothing of what lists show, and it is listed instead: does a proxy keep back what it passes on?';

export interface ReflectorOptions<T extends KubeObject> extends ListOptions {
  transport: ApiTransport;
  clock: Clock;
  random: Random;
  logger: Logger;
  metrics: WatchMetrics;
  resource: Resource<T>;
  indexes?: Indexers<T>;
  /** Default: `pruneFor(resource)`. Must return a frozen object; `before` is the version that is cached. */
  prune?: (object: T, before?: T) => T;
  timings?: Partial<ReflectorTimings>;
  /** How long the watch may rest after it brought something. Absent: it never does. What is there already is read without a rest. */
  restMs?: () => number;
  /** Told when the server shows an older state than before. */
  onWentBack?: (message: string) => void;
}

/**
 * Keeps a cache equal to a collection: a watch that begins with what is there, or one paged list where the server has no such watch or the last one broke;
 * then watches, each from where the last one ended. Begins anew only when the server has forgotten that place. No failure ends it; only `close` does.
 */
export class Reflector<T extends KubeObject> {
  readonly lister: Lister<T>;
  readonly #options: ReflectorOptions<T>;
  readonly #timings: ReflectorTimings;
  readonly #state: WatchedState<T>;
  readonly #closing = new AbortController();
  /** Ends the watch that is open. */
  #turn = new AbortController();
  #mustList = false;
  /** Encodings that are asked for. */
  #accept: string;
  /** What the watch that is open began with, until it was all of it. */
  #initial: InitialEvents<T> | undefined;
  /** `never`: this server has no watch that begins with what is there. `later`: the last one broke half-way. */
  #streams: 'now' | 'later' | 'never' = 'now';
  readonly #waiting = new Set<() => void>();
  readonly #silences = new Silences();
  #failures = 0;
  #refusals = 0;
  #lastError: Error | undefined;
  #isStarted = false;
  readonly #warnings: RepeatedWarnings;

  constructor(options: ReflectorOptions<T>) {
    this.#options = options;
    this.#warnings = new RepeatedWarnings(options);
    this.#timings = { ...REFLECTOR_TIMINGS, ...options.timings };
    this.#state = new WatchedState<T>(this.name, options);
    this.#accept = acceptFor(options.resource);
    this.lister = this.#state.cache;
  }

  /** Plural name, with the group where there is one. */
  get name(): string {
    const { group, plural } = this.#options.resource;
    return group === '' ? plural : `${plural}.${group}`;
  }

  /** Of the last cycle that failed, for `/readyz` and for people; undefined once a watch is stable again. */
  get lastError(): Error | undefined {
    return this.#lastError;
  }

  start(): void {
    if (!this.#isStarted) {
      this.#isStarted = true;
      void this.#run();
    }
  }

  /** Resolves when the first list has been delivered. Rejects after `deadlineMs`, saying why there is none, or when closed. The reflector goes on trying. */
  untilSynced(deadlineMs: number): Promise<void> {
    if (this.#state.cache.synced) {
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#waiting.delete(settle);
        cancel();
        if (this.#state.cache.synced) {
          resolve();
        } else {
          reject(new Error(`${this.name}: ${this.#closing.signal.aborted ? 'closed before its first list' : this.#unlisted(deadlineMs)}`));
        }
      };
      const cancel = this.#options.clock.after(deadlineMs, settle);
      this.#waiting.add(settle);
      if (this.#closing.signal.aborted) {
        settle();
      }
    });
  }

  #unlisted(deadlineMs: number): string {
    const why = this.#lastError?.message ?? 'the API server has not answered';
    return `no first list after ${String(deadlineMs)} ms (${why}); look at the API server, the credentials and the RBAC rules`;
  }

  /** The server's history is not the one that was watched: what the open watch would bring has gaps. Everything is listed anew. */
  listAnew(): void {
    this.#mustList = true;
    this.#state.doubt();
    this.#turn.abort();
  }

  /** Ends the watch. The lister keeps what it has and goes stale. */
  close(): void {
    this.#closing.abort();
    this.#turn.abort();
    this.#wake();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!this.#isClosed()) {
      const result = await this.#cycle();
      if (this.#isClosed()) {
        return;
      }
      const delayMs = this.#judge(result);
      if (delayMs > 0) {
        await this.#options.clock.sleep(delayMs, signal).catch((error: unknown) => {
          this.#options.logger.debug('watch closed while it waited', { resource: this.name, error });
        });
      }
    }
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** What is there, where that is needed; then one watch, which may begin with it. */
  async #cycle(): Promise<WatchResult> {
    if (this.#mustList) this.#state.forgetVersion();
    this.#mustList = false;
    try {
      if (this.#silences.isLookDue) this.#state.forgetVersion();
      else if (this.#silences.isSilent && this.#state.version !== undefined && (await this.#isServerBehind())) this.#state.forgetVersion();
      if (this.#state.version === undefined && this.#streams === 'now' && !this.#silences.isLookDue) {
        const result = await this.#watch(new InitialEvents(this.#options.resource, this.#state.prune));
        if (result.end !== 'refused' || !refusesInitialEvents(result.error)) return result;
        this.#streams = 'never';
      }
      if (this.#state.version === undefined) await this.#list();
    } catch (error) {
      return { end: 'list-failed', error: error instanceof Error ? error : new Error(String(error)), openMs: 0, isEmpty: false };
    }
    return this.#watch(undefined);
  }

  async #watch(initial: InitialEvents<T> | undefined): Promise<WatchResult> {
    const { transport, clock, resource, namespace, restMs } = this.#options;
    const { watchMinMs, watchMaxMs, openDeadlineMs, idleMs, listDeadlineMs, stableMs } = this.#timings;
    const timeoutMs = watchMinMs + this.#options.random.next() * (watchMaxMs - watchMinMs);
    const askedAtMs = clock.monotonicMs();
    let isOpen = false;
    // Asked for while the list was on its way, which may be of before.
    if (this.#isListWanted()) return { end: 'closed', error: undefined, openMs: 0, isEmpty: false };
    this.#turn = new AbortController();
    if (this.#isClosed()) this.#turn.abort();
    this.#initial = initial;
    const version = this.#state.watchFrom();
    const from = version === undefined ? INITIAL_EVENTS_QUERY : { resourceVersion: version, allowWatchBookmarks: 'true' };
    const timeoutSeconds = String(Math.max(1, Math.round(timeoutMs / 1000)));
    const result = await runWatch({
      transport,
      clock,
      request: {
        path: pathOf(resource, { namespace }),
        query: { ...selectors(this.#options), ...from, timeoutSeconds },
        accept: this.#accept,
        ...(restMs === undefined ? {} : { restMs: () => (this.#initial === undefined ? restMs() : 0) }),
      },
      openDeadlineMs,
      idleMs: () => (this.#initial === undefined ? idleMs : listDeadlineMs),
      signal: this.#turn.signal,
      onLive: () => {
        // Half of what is there is no view of it.
        if (this.#initial !== undefined) return;
        if (isOpen || initial !== undefined) this.#state.cache.freshAtMs = clock.monotonicMs();
        else if (!this.#silences.isKeptBack) this.#state.cache.reopened(clock.monotonicMs());
        isOpen = true;
        if (clock.monotonicMs() - askedAtMs >= stableMs) this.#tellOver();
      },
      onEvent: (event) => {
        this.#silences.heard();
        if (this.#initial === undefined) this.#state.apply(event);
        else this.#begin(this.#initial, event, askedAtMs);
      },
    });
    if (this.#initial !== undefined) this.#streams = isRepeatable(result) ? 'now' : 'later';
    this.#initial = undefined;
    return result;
  }

  /** One of the events that a watch begins with. */
  #begin(initial: InitialEvents<T>, event: WatchEvent, askedAtMs: number): void {
    this.#options.metrics.watchEvent(this.name, event.type);
    const version = initial.take(event);
    if (version === undefined) return;
    this.#adopt(initial.handOver(), version, askedAtMs, 'the initial events show');
    this.#initial = undefined;
    this.#state.watchFrom();
  }

  #isListWanted(): boolean {
    return this.#mustList;
  }

  async #list(): Promise<void> {
    const { transport, clock, resource } = this.#options;
    const startedAtMs = clock.monotonicMs();
    const { items, resourceVersion } = await listPages(transport, resource, this.#listOptions());
    if (this.#streams === 'later') this.#streams = 'now';
    const objects = new Map(items.map((item) => [keyOf(item), item]));
    if (this.#silences.isLookDue) this.#silences.looked(this.#state.differsFrom(objects));
    this.#adopt(objects, resourceVersion, startedAtMs, 'a list shows');
  }

  /** Takes a whole state, which is that of `atMs` or later. One that was asked for anew meanwhile may be of before, and makes nothing fresh. */
  #adopt(objects: ReadonlyMap<string, T>, resourceVersion: string, atMs: number, how: string): void {
    this.#state.adopt(objects, resourceVersion, this.#mustList ? undefined : atMs, how);
    this.#options.metrics.listed(this.name, objects.size, this.#options.clock.monotonicMs() - atMs);
    this.#wake();
  }

  async #isServerBehind(): Promise<boolean> {
    const { transport, resource } = this.#options;
    return isOlder(await currentVersion(transport, resource, this.#listOptions()), this.#state.version);
  }

  #listOptions(): PagedListOptions<T> {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    return {
      ...(namespace === undefined ? {} : { namespace }),
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
      deadlineMs: this.#timings.listDeadlineMs,
      signal: this.#closing.signal,
      accept: this.#accept,
      prune: this.#state.prune,
      later: (delayMs) => this.#options.clock.sleep(delayMs, this.#closing.signal),
    };
  }

  /** Decides from the end of a cycle whether to list again, and how long to wait. */
  #judge({ end, error, openMs, isEmpty }: WatchResult): number {
    const { stableMs, refusalsBeforeRelist, backoff } = this.#timings;
    this.#options.metrics.watchEnded(this.name, end);
    if (end === 'idle') this.#silences.add();
    // What can not be read in one encoding, be it the fault of one object, must not leave us blind.
    if (isGarbled(end, error)) this.#accept = JSON_ONLY;
    if (openMs >= stableMs && !this.#silences.isKeptBack) {
      this.#failures = 0;
      this.#refusals = 0;
      this.#lastError = undefined;
      this.#tellOver();
    }
    // Accepted and ended at once, nothing came: what happened since is not seen so, however often that is tried.
    const isVain = isEmpty && openMs < stableMs;
    this.#refusals += end === 'refused' || end === 'error-event' || end === 'garbled' || isVain ? 1 : 0;
    if (needsRelist(error) || end === 'went-back' || this.#refusals >= refusalsBeforeRelist) {
      this.#state.forgetVersion();
      this.#refusals = 0;
    }
    this.#lastError = error ?? this.#lastError;
    const isOrdinary = end === 'closed' || end === 'idle' || end === 'expired';
    const jitterMs = isOrdinary && this.#failures === 0 ? 0 : fullJitter(backoff, this.#failures, this.#options.random);
    this.#failures += 1;
    const delayMs = Math.max(jitterMs, (error instanceof ApiStatusError ? error.retryAfterMs : undefined) ?? 0);
    const fields = { resource: this.name, end, error, openMs, delayMs: Math.round(delayMs), relist: this.#state.version === undefined };
    if (this.#silences.isSurelyKeptBack) this.#warnings.warn(this.name, KEPT_BACK, error, fields);
    else if (isOrdinary) {
      this.#options.logger.debug('watch ended', fields);
    } else {
      this.#warnings.warn(this.name, 'watch failed', error, fields);
    }
    return delayMs;
  }

  #tellOver(): void {
    if (this.#warnings.over(this.name)) this.#options.logger.info('watch stands again', { resource: this.name });
  }

  #wake(): void {
    for (const waiting of [...this.#waiting]) {
      waiting();
    }
  }
}

function isGarbled(end: WatchEnd, error: Error | undefined): boolean {
  return end === 'garbled' || (error instanceof TransportError && error.kind === 'garbled');
}

/** A stream of initial events that may be asked for again at once: nothing is wrong with it. Else a list is tried between. */
function isRepeatable({ end, error }: WatchResult): boolean {
  return end === 'closed' || (error instanceof ApiStatusError && error.status === 429);
}
