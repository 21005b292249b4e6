import { collectionOf, present, type Backend } from './backend.ts';
import { ApiFailure, expired, invalid, statusObject } from './failure.ts';
import type { ApiObject, JsonObject } from './json.ts';
import { apiVersionOf, type Kind } from './kinds.ts';
import { checkFuture, parseVersion, selectorOf, type Query } from './lists.ts';
import { fieldValue, type Selector } from './selectors.ts';
import type { Change, ChangeType } from './store.ts';

export interface ServerEvent {
  type: ChangeType | 'BOOKMARK' | 'ERROR';
  /** Shared with the store: copy or serialise it. */
  object: JsonObject;
}

/** Where a watch's events go. Both are called in the course of other requests' writes: they must not call the server back at once. */
export interface ServerSink {
  onEvent(event: ServerEvent): void;
  /** The server ended the stream (its time is up, or after an ERROR event). Never after `close()`. */
  onEnd(): void;
}

interface Watcher {
  kind: Kind;
  namespace: string;
  selector: Selector;
  sink: ServerSink;
  wantsBookmarks: boolean;
  /** What it began with. Only what is newer is told, bookmarks too: a watch from a revision that is still to come hears nothing until then. */
  fromRevision: number;
  endsAtMs: number;
  lastBookmarkMs: number;
  bucket: string;
}

const BUCKET_FIELDS = ['metadata.name', 'spec.nodeName'];
const BOOKMARK_INTERVAL_MS = 60_000;
const LAST_BOOKMARK_MS = 2_000;
const TIMEOUT_SECONDS = 1_800;
const INITIAL_EVENTS_END = { annotations: { 'k8s.io/initial-events-end': 'true' } };
const OPTIONS = { group: 'meta.k8s.io', plural: '', kind: 'ListOptions' };

/** All open watches. Those that ask for one name or one node are found by it, so that a write costs only the watches it concerns. */
export class Watches {
  readonly #backend: Backend;
  readonly #streamsLists: boolean;
  readonly #byStorage = new Map<string, Map<string, Set<Watcher>>>();

  /** `streamsLists`: a watch may begin with what is there; see `startOf`. */
  constructor(backend: Backend, streamsLists: boolean) {
    this.#backend = backend;
    this.#streamsLists = streamsLists;
  }

  get size(): number {
    let count = 0;
    for (const buckets of this.#byStorage.values()) for (const watchers of buckets.values()) count += watchers.size;
    return count;
  }

  /** Opens a watch: past changes are delivered before this returns, later ones as they are written. */
  open(kind: Kind, namespace: string, query: Query, sink: ServerSink): () => void {
    const start = startOf(query, this.#streamsLists);
    const selector = selectorOf(query, kind);
    const from = parseVersion(query['resourceVersion'] ?? '');
    if (start !== 'versions') checkFuture(this.#backend, from);
    const past = start === 'nothing' && from === 0 ? [] : this.#pastEvents(kind, namespace, selector, start === 'everything' ? 0 : from);
    const timeoutSeconds = Number(query['timeoutSeconds'] ?? '0') || TIMEOUT_SECONDS + Math.floor(this.#backend.random.next() * TIMEOUT_SECONDS);
    const now = this.#backend.clock.monotonicMs();
    const watcher: Watcher = {
      kind,
      namespace,
      selector,
      sink,
      wantsBookmarks: ['true', '1'].includes(query['allowWatchBookmarks'] ?? ''),
      fromRevision: from === 0 || start === 'everything' ? this.#backend.store.revision : from,
      endsAtMs: now + timeoutSeconds * 1000,
      lastBookmarkMs: now,
      bucket: bucketOf(selector),
    };
    this.#bucketFor(kind.storage, watcher.bucket).add(watcher);
    for (const event of past) sink.onEvent(event);
    if (start === 'everything' && watcher.wantsBookmarks) sink.onEvent(this.#bookmarkOf(kind, INITIAL_EVENTS_END));
    return () => {
      this.#remove(watcher);
    };
  }

  /** Passes a change on to the watches it concerns. */
  deliver(storage: string, change: Change): void {
    const buckets = this.#byStorage.get(storage);
    if (buckets === undefined) return;
    this.#deliverTo(buckets.get(''), change);
    for (const field of BUCKET_FIELDS) {
      const value = fieldValue(change.object, field);
      const before = change.previous === undefined ? value : fieldValue(change.previous, field);
      this.#deliverTo(buckets.get(`${field}=${value}`), change);
      if (before !== value) this.#deliverTo(buckets.get(`${field}=${before}`), change);
    }
  }

  /** Ends watches whose time is up and sends the bookmarks that are due (`force`: to all that want them). */
  tick(force = false): void {
    const now = this.#backend.clock.monotonicMs();
    for (const watcher of this.#all()) {
      const isLast = now >= watcher.endsAtMs - LAST_BOOKMARK_MS && watcher.lastBookmarkMs < watcher.endsAtMs - LAST_BOOKMARK_MS;
      if (watcher.wantsBookmarks && (force || isLast || now - watcher.lastBookmarkMs >= BOOKMARK_INTERVAL_MS)) this.#bookmark(watcher, now);
      if (now < watcher.endsAtMs) continue;
      this.#remove(watcher);
      watcher.sink.onEnd();
    }
  }

  /** Ends every watch, or those of one collection, as a restarting server or a redefined kind would. */
  endAll(storage?: string): void {
    for (const watcher of this.#all()) {
      if (storage !== undefined && watcher.kind.storage !== storage) continue;
      this.#remove(watcher);
      watcher.sink.onEnd();
    }
  }

  /** Ends every watch with an ERROR event of status 410, as a server that compacted its history would. */
  expireAll(): void {
    const failure = statusObject(expired('The resourceVersion for the provided watch is too old.'));
    for (const watcher of this.#all()) {
      this.#remove(watcher);
      watcher.sink.onEvent({ type: 'ERROR', object: failure });
      watcher.sink.onEnd();
    }
  }

  #all(): Watcher[] {
    return [...this.#byStorage.values()].flatMap((buckets) => [...buckets.values()].flatMap((watchers) => [...watchers]));
  }

  #bookmark(watcher: Watcher, now: number): void {
    watcher.lastBookmarkMs = now;
    if (this.#backend.store.revision <= watcher.fromRevision) return;
    watcher.sink.onEvent(this.#bookmarkOf(watcher.kind, {}));
  }

  #bookmarkOf(kind: Kind, more: JsonObject): ServerEvent {
    const metadata = { resourceVersion: String(this.#backend.store.revision), creationTimestamp: null, ...more };
    return { type: 'BOOKMARK', object: { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata } };
  }

  #pastEvents(kind: Kind, namespace: string, selector: Selector, from: number): ServerEvent[] {
    const collection = collectionOf(this.#backend, kind);
    if (from === 0) {
      const matching = collection.inNamespace(namespace).filter((object) => selector.matches(object));
      return matching.map((object) => ({ type: 'ADDED', object: present(object, kind) }));
    }
    try {
      const prefix = namespace === '' ? '' : `${namespace}/`;
      return collection.changesSince(from).flatMap((change) => (change.key.startsWith(prefix) ? (eventOf(change, kind, selector) ?? []) : []));
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      throw new WatchExpired(error);
    }
  }

  #deliverTo(watchers: ReadonlySet<Watcher> | undefined, change: Change): void {
    if (watchers === undefined) return;
    for (const watcher of [...watchers]) {
      if (change.revision <= watcher.fromRevision) continue;
      if (watcher.namespace !== '' && change.object.metadata.namespace !== watcher.namespace) continue;
      const event = eventOf(change, watcher.kind, watcher.selector);
      if (event !== undefined) watcher.sink.onEvent(event);
    }
  }

  #bucketFor(storage: string, bucket: string): Set<Watcher> {
    let buckets = this.#byStorage.get(storage);
    if (buckets === undefined) this.#byStorage.set(storage, (buckets = new Map<string, Set<Watcher>>()));
    let watchers = buckets.get(bucket);
    if (watchers === undefined) buckets.set(bucket, (watchers = new Set<Watcher>()));
    return watchers;
  }

  #remove(watcher: Watcher): void {
    const buckets = this.#byStorage.get(watcher.kind.storage);
    const watchers = buckets?.get(watcher.bucket);
    watchers?.delete(watcher);
    if (watchers?.size === 0) buckets?.delete(watcher.bucket);
  }
}

/** A watch from a revision that is gone: the stream opens and says so in an ERROR event, as a real server's does. */
export class WatchExpired extends Error {
  readonly failure: ApiFailure;
  constructor(failure: ApiFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** What a change means to a selector: leaving it is a deletion, entering it an addition. */
function eventOf(change: Change, kind: Kind, selector: Selector): ServerEvent | undefined {
  const matchesNow = change.type !== 'DELETED' && selector.matches(change.object);
  const matchedBefore = change.previous !== undefined && selector.matches(change.previous);
  if (matchesNow) return { type: matchedBefore ? 'MODIFIED' : 'ADDED', object: present(change.object, kind) };
  if (!matchedBefore) return undefined;
  const last: ApiObject = change.type === 'DELETED' ? change.object : withRevision(change.previous ?? change.object, change.revision);
  return { type: 'DELETED', object: present(last, kind) };
}

function withRevision(object: ApiObject, revision: number): ApiObject {
  return { ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } };
}

function bucketOf(selector: Selector): string {
  const field = selector.fields.find((one) => one.equal && BUCKET_FIELDS.includes(one.field));
  return field === undefined ? '' : `${field.field}=${field.value}`;
}

/**
 * What a watch begins with: all that there is, with a bookmark after it (KEP-3157); nothing; or what its resource version says. Refused as a server does
 * that has the feature off, where clients fall back to list and watch.
 */
function startOf(query: Query, streamsLists: boolean): 'everything' | 'nothing' | 'versions' {
  const { sendInitialEvents: wish, resourceVersionMatch: match = '' } = query;
  const refuse = (field: string, message: string): never => {
    throw invalid(OPTIONS, '', [{ field, reason: 'FieldValueForbidden', message: `Forbidden: ${message}` }]);
  };
  if (wish === undefined) {
    return match === ''
      ? 'versions'
      : refuse('resourceVersionMatch', 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided');
  }
  if (match !== 'NotOlderThan') refuse('resourceVersionMatch', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan');
  if (!streamsLists) refuse('sendInitialEvents', 'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled');
  return ['true', '1'].includes(wish) ? 'everything' : 'nothing';
}
