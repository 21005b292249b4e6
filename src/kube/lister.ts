import type { Lister } from '../ports/cluster.ts';
import type { KubeObject } from '../ports/objects.ts';
import type { Logger } from '../ports/recorder.ts';
import { keyOf } from './resource-path.ts';

/** Index values of an object; an object may stand under several or none. */
export type Indexers<T> = Readonly<Record<string, (object: T) => readonly string[]>>;

/** A kubelet renews its lease every ten seconds. */
const UNHEARD_MS = 10_000;

/** A live watch brings at least a bookmark about every minute. */
const OUTAGE_MS = 90_000;

type Listener<T> = (before: T | undefined, after: T | undefined) => void;

/** The cache behind a reflector. Holds one version of each object and tells listeners of every change, in the order of the changes. */
export class ObjectCache<T extends KubeObject> implements Lister<T> {
  synced = false;
  freshAtMs = Number.NEGATIVE_INFINITY;
  freshSinceMs = Number.NEGATIVE_INFINITY;
  resumedAtMs = Number.NEGATIVE_INFINITY;
  readonly #objects = new Map<string, T>();
  readonly #indexers: Indexers<T>;
  /** The objects under each value of an index: another list whenever one of them has changed. There are thousands, of few objects each. */
  readonly #indexes = new Map<string, Map<string, readonly T[]>>();
  readonly #listeners = new Set<Listener<T>>();
  readonly #logger: Logger;

  constructor(indexers: Indexers<T>, logger: Logger) {
    this.#indexers = indexers;
    this.#logger = logger;
    for (const index of Object.keys(indexers)) {
      this.#indexes.set(index, new Map());
    }
  }

  /** The view is current as of `atMs`, by a new watch or list; a long silence before it may have hidden something. */
  reopened(atMs: number): void {
    if (atMs - this.freshAtMs > UNHEARD_MS) {
      this.freshSinceMs = atMs;
    }
    if (atMs - this.freshAtMs > OUTAGE_MS) this.resumedAtMs = atMs;
    this.freshAtMs = Math.max(this.freshAtMs, atMs);
  }

  /** What is cached may be of another time than the server's: nothing counts as heard until it is listed anew. */
  outdated(): void {
    this.freshAtMs = Number.NEGATIVE_INFINITY;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  all(): Iterable<T> {
    return this.#objects.values();
  }

  byIndex(index: string, value: string): readonly T[] {
    const values = this.#indexes.get(index);
    if (values === undefined) {
      throw new Error(`lister: there is no index "${index}"; declared are: ${[...this.#indexes.keys()].join(', ') || 'none'}`);
    }
    return values.get(value) ?? [];
  }

  onChange(listener: Listener<T>): () => void {
    const own: Listener<T> = (before, after) => {
      listener(before, after);
    };
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** A version of an object that is known to be newer than the cached one. */
  put(object: T): void {
    this.#put(keyOf(object), object);
  }

  #put(key: string, object: T): void {
    const before = this.#objects.get(key);
    if (before !== undefined && before.metadata.uid !== object.metadata.uid) {
      this.remove(key);
      this.#put(key, object);
      return;
    }
    this.#objects.set(key, object);
    this.#unindex(before);
    this.#index(object);
    this.#notify(before, object);
  }

  remove(key: string): void {
    const before = this.#objects.get(key);
    if (before === undefined) {
      return;
    }
    this.#objects.delete(key);
    this.#unindex(before);
    this.#notify(before, undefined);
  }

  /** Takes a whole list: objects that are not in it are removed, those of an unchanged version stay and are not told. */
  replaceAll(objects: readonly T[]): void {
    this.replaceKeyed(new Map(objects.map((object) => [keyOf(object), object])));
  }

  /** The same of a list whose objects stand under their keys already. `isOfOtherTime`: a version that is cached too may be another one of this name. */
  replaceKeyed(objects: ReadonlyMap<string, T>, isOfOtherTime = false): void {
    for (const key of [...this.#objects.keys()]) {
      if (!objects.has(key)) {
        this.remove(key);
      }
    }
    for (const [key, object] of objects) {
      const { uid, resourceVersion } = this.#objects.get(key)?.metadata ?? {};
      if (isOfOtherTime || uid !== object.metadata.uid || resourceVersion === undefined || resourceVersion !== object.metadata.resourceVersion) {
        this.#put(key, object);
      }
    }
  }

  #notify(before: T | undefined, after: T | undefined): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener(before, after);
      } catch (error) {
        this.#logger.error('a listener failed on a changed object', { object: (after ?? before)?.metadata.name, error });
      }
    }
  }

  #index(object: T): void {
    for (const [index, values] of this.#indexes) {
      for (const value of this.#indexers[index]?.(object) ?? []) {
        const members = values.get(value) ?? [];
        if (!members.includes(object)) values.set(value, [...members, object]);
      }
    }
  }

  #unindex(object: T | undefined): void {
    if (object === undefined) {
      return;
    }
    for (const [index, values] of this.#indexes) {
      for (const value of this.#indexers[index]?.(object) ?? []) {
        const left = (values.get(value) ?? []).filter((member) => member !== object);
        if (left.length === 0) values.delete(value);
        else values.set(value, left);
      }
    }
  }
}
