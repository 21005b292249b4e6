import { TransportError, type WatchEvent } from '../ports/api-transport.ts';
import type { Resource } from '../ports/cluster.ts';
import type { WatchMetrics } from '../ports/metrics.ts';
import type { KubeObject } from '../ports/objects.ts';
import type { Logger } from '../ports/recorder.ts';
import { ObjectCache, type Indexers } from './lister.ts';
import { pruneFor } from './prune.ts';
import { apiVersionOf, keyOf } from './resource-path.ts';
import { isAtMost, isOlder } from './resource-version.ts';
import { asFields, asObject } from './status.ts';
import { WentBack } from './watch-session.ts';

interface WatchedStateOptions<T extends KubeObject> {
  resource: Resource<T>;
  logger: Logger;
  metrics: WatchMetrics;
  indexes?: Indexers<T>;
  prune?: (object: T, before?: T) => T;
  onWentBack?: (message: string) => void;
}

/** A cached collection and the version that it is of. Takes what is newer; what is older tells that the server was taken back. */
export class WatchedState<T extends KubeObject> {
  readonly cache: ObjectCache<T>;
  /** Cut down, with what the cached version has too taken from there. */
  readonly prune: (object: T, key?: string) => T;
  readonly #name: string;
  readonly #options: WatchedStateOptions<T>;
  /** Where the next watch begins; undefined: list first. */
  #version: string | undefined;
  /** The newest version that was heard of. */
  #newest: string | undefined;
  /** What the watch that is open was asked from. */
  #watchedFrom: string | undefined;
  /** What is cached may be of a time that has not been, for the server: it counts its versions anew since. */
  #isDoubted = false;

  /** `name`: of the collection, for people. */
  constructor(name: string, options: WatchedStateOptions<T>) {
    this.#name = name;
    this.#options = options;
    this.cache = new ObjectCache<T>(options.indexes ?? {}, options.logger);
    const prune = options.prune ?? pruneFor(options.resource);
    this.prune = (object, key = keyOf(object)) => prune(object, this.cache.get(key));
  }

  get version(): string | undefined {
    return this.#version;
  }

  /** What is there has to be read anew; it stays shown until then. */
  forgetVersion(): void {
    this.#version = undefined;
  }

  /** The server's history is not the one that was watched: nothing counts as heard until it is listed anew. */
  doubt(): void {
    this.#isDoubted = true;
    this.cache.outdated();
  }

  /** Where a watch begins, and what its events must be newer than. */
  watchFrom(): string | undefined {
    this.#watchedFrom = this.#version;
    return this.#version;
  }

  /** Is something there that is not cached, or another version of it? */
  differsFrom(objects: ReadonlyMap<string, T>): boolean {
    if (objects.size !== this.cache.size) return true;
    return [...objects].some(([key, { metadata }]) => this.cache.get(key)?.metadata.resourceVersion !== metadata.resourceVersion);
  }

  /** Takes a whole collection. `freshAtMs`: it is that of then or later; undefined: nobody knows. */
  adopt(objects: ReadonlyMap<string, T>, version: string, freshAtMs: number | undefined, how: string): void {
    if (isOlder(version, this.#newest)) {
      this.#wentBack(`${how} version ${version}`);
    }
    this.#version = version;
    this.#newest = version;
    this.cache.replaceKeyed(objects, this.#isDoubted);
    if (freshAtMs !== undefined) {
      this.#isDoubted = false;
      this.cache.reopened(freshAtMs);
    }
    this.cache.synced = true;
  }

  /** One event of a watch from the version that `watchFrom` gave. Throws `WentBack` for one that is older. */
  apply(event: WatchEvent): void {
    this.#options.metrics.watchEvent(this.#name, event.type);
    if (event.type === 'BOOKMARK') {
      const metadata = asFields(asFields(event.object)?.['metadata']);
      const version = metadata?.['resourceVersion'];
      if (typeof version === 'string' && isOlder(version, this.#version)) {
        throw new WentBack(this.#wentBack(`a bookmark came with version ${version}`));
      }
      this.#advance(version);
      return;
    }
    const { resource } = this.#options;
    const object = asObject(`watch ${this.#name}`, event.object) as T;
    const version = object.metadata.resourceVersion;
    if (typeof version !== 'string' || version === '') {
      throw new TransportError('garbled', `watch ${this.#name}: ${object.metadata.name} has no resourceVersion`);
    }
    // A watch tells only of what came after the version that it was asked from; a deletion may carry the version of the last write.
    if (event.type !== 'DELETED' && this.#watchedFrom !== undefined && isAtMost(version, this.#watchedFrom) === true) {
      throw new WentBack(this.#wentBack(`${object.metadata.name} came with version ${version}`));
    }
    if (!this.#isKnown(event.type, object, version)) {
      if (event.type === 'DELETED') {
        this.cache.remove(keyOf(object));
      } else {
        this.cache.put(this.prune({ ...object, apiVersion: apiVersionOf(resource), kind: resource.kind }));
      }
    }
    this.#advance(version);
  }

  /** An event that came twice or late would turn the cache back. Some servers give a deletion the version of the last write. */
  #isKnown(type: WatchEvent['type'], object: T, version: string): boolean {
    const cached = this.cache.get(keyOf(object));
    const isSame = cached !== undefined && cached.metadata.uid === object.metadata.uid;
    const seen = isSame ? cached.metadata.resourceVersion : this.#version;
    if (isSame && type === 'DELETED' && version === seen) {
      return false;
    }
    return seen !== undefined && isAtMost(version, seen) === true;
  }

  #advance(version: unknown): void {
    if (typeof version !== 'string' || version === '') {
      throw new TransportError('garbled', `watch ${this.#name}: a bookmark without resourceVersion`);
    }
    if (this.#version === undefined || isAtMost(version, this.#version) !== true) {
      this.#version = version;
      this.#newest = version;
    }
  }

  /** etcd was restored: what is cached is of a time that has not been, for the server. Returns what is told of it. */
  #wentBack(what: string): string {
    const { logger, metrics, onWentBack } = this.#options;
    const message = `${this.#name}: ${what}, older than ${this.#newest ?? 'the list'} that was seen before: was etcd restored from a backup? Everything is listed anew`;
    this.doubt();
    metrics.wentBack(this.#name);
    logger.error('the API server shows an older state than before', { resource: this.#name, error: message });
    onWentBack?.(message);
    return message;
  }
}
