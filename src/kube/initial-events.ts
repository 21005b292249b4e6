import { TransportError, type WatchEvent } from '../ports/api-transport.ts';
import type { Resource } from '../ports/cluster.ts';
import type { KubeObject } from '../ports/objects.ts';
import { apiVersionOf, keyOf } from './resource-path.ts';
import { isAtMost, isOlder } from './resource-version.ts';
import { asFields, asObject } from './status.ts';

/** On the bookmark after the last object of what was there. */
const END_ANNOTATION = 'k8s.io/initial-events-end';

/**
 * Asks a watch to begin with what is there, as it stood when the server took the request or later: with no resourceVersion the server reads where it is,
 * as for a consistent list.
 */
export const INITIAL_EVENTS_QUERY = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', allowWatchBookmarks: 'true' } as const;

/**
 * The beginning of a watch that sends what is there (KEP-3157): object by object, each cut down as it comes, so that no page of whole objects is ever held.
 * It is a list only once the server has said that it was all of it; what happened meanwhile comes in between.
 */
export class InitialEvents<T extends KubeObject> {
  readonly #resource: Resource<T>;
  readonly #prune: (object: T, key: string) => T;
  readonly #apiVersion: string;
  #objects = new Map<string, T>();

  constructor(resource: Resource<T>, prune: (object: T, key: string) => T) {
    this.#resource = resource;
    this.#prune = prune;
    this.#apiVersion = apiVersionOf(resource);
  }

  /** All of it, once: what is gone or has changed since would be held for as long as its watch. */
  handOver(): ReadonlyMap<string, T> {
    const objects = this.#objects;
    this.#objects = new Map();
    return objects;
  }

  /** The version of the whole, with the event that ends it; undefined: there is more to come. */
  take({ type, object: raw }: WatchEvent): string | undefined {
    const what = `watch ${this.#resource.plural}`;
    if (type === 'BOOKMARK') return endOf(what, raw);
    const object = asObject(what, raw) as T;
    const { resourceVersion: version, uid } = object.metadata;
    if (typeof version !== 'string' || version === '') {
      throw new TransportError('garbled', `${what}: ${object.metadata.name} has no resourceVersion`);
    }
    const key = keyOf(object);
    const known = this.#objects.get(key)?.metadata;
    const seen = known?.resourceVersion ?? '';
    // An event that came twice or late would turn it back. Some servers give a deletion the version of the last write.
    const isLate = known !== undefined && (type === 'DELETED' && known.uid === uid ? isOlder(version, seen) : isAtMost(version, seen) === true);
    if (isLate) return undefined;
    if (type === 'DELETED') this.#objects.delete(key);
    else this.#objects.set(key, this.#prune(this.#named(object), key));
    return undefined;
  }

  #named(object: T): T {
    const { kind } = this.#resource;
    return object.apiVersion === this.#apiVersion && object.kind === kind ? object : { ...object, apiVersion: this.#apiVersion, kind };
  }
}

function endOf(what: string, bookmark: unknown): string | undefined {
  const metadata = asFields(asFields(bookmark)?.['metadata']);
  if (asFields(metadata?.['annotations'])?.[END_ANNOTATION] !== 'true') return undefined;
  const version = metadata?.['resourceVersion'];
  if (typeof version !== 'string' || version === '') {
    throw new TransportError('garbled', `${what}: the bookmark that ends the initial events has no resourceVersion`);
  }
  return version;
}
