import { sameContent } from '../../domain/canonical.ts';
import type { Lister } from '../../ports/cluster.ts';
import type { KubeObject } from '../../ports/objects.ts';

/** One object, and what is read of it. `facts` is the same value for as long as nothing that is read of it has changed. */
export interface Known<T extends KubeObject, F> {
  object: T;
  facts: F;
}

interface Entry<T extends KubeObject, F> extends Known<T, F> {
  /** Versions that our own writes have replaced: the watch may still bring them, later than the answers to the writes. */
  superseded: Set<string>;
}

/** Key of a lister: `name`, or `namespace/name`. */
export function keyOf({ name, namespace }: { name: string; namespace?: string | undefined }): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

/**
 * What is read of a watched collection, worked out once for each version. `changed` is called with the facts before and after, and not for what nobody
 * reads, such as the heartbeats of nodes. Answers to our own writes count at once; the watch may be late.
 */
export class WatchedFacts<T extends KubeObject, F> {
  readonly #entries = new Map<string, Entry<T, F>>();
  readonly #derive: (object: T) => F;
  readonly #changed: (key: string, before: F | undefined, after: F | undefined) => void;
  readonly #lister: Lister<T>;
  #close: () => void = () => undefined;

  constructor(lister: Lister<T>, derive: (object: T) => F, changed: (key: string, before: F | undefined, after: F | undefined) => void) {
    this.#lister = lister;
    this.#derive = derive;
    this.#changed = changed;
  }

  /** Takes what the lister has, and follows it. */
  start(): void {
    this.#close = this.#lister.onChange((before, after) => {
      if (after !== undefined) this.#take(after);
      else if (before !== undefined) this.#drop(keyOf(before.metadata), before.metadata.uid);
    });
    for (const object of this.#lister.all()) this.#take(object);
  }

  close(): void {
    this.#close();
  }

  get synced(): boolean {
    return this.#lister.synced;
  }

  get freshAtMs(): number {
    return this.#lister.freshAtMs;
  }

  /** See Lister. */
  get resumedAtMs(): number | undefined {
    return this.#lister.resumedAtMs;
  }

  get(key: string): Known<T, F> | undefined {
    return this.#entries.get(key);
  }

  keys(): Iterable<string> {
    return this.#entries.keys();
  }

  entries(): Iterable<[string, Known<T, F>]> {
    return this.#entries.entries();
  }

  /** The answer to a write of ours upon the version that `get` gave. */
  wrote(object: T): void {
    const key = keyOf(object.metadata);
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.object.metadata.uid !== object.metadata.uid) return;
    const { resourceVersion } = entry.object.metadata;
    if (resourceVersion === object.metadata.resourceVersion) return;
    const superseded = resourceVersion === undefined ? entry.superseded : new Set([...entry.superseded, resourceVersion]);
    this.#set(key, object, superseded);
  }

  #take(object: T): void {
    const key = keyOf(object.metadata);
    const entry = this.#entries.get(key);
    const isSame = entry?.object.metadata.uid === object.metadata.uid;
    if (isSame && entry !== undefined && entry.superseded.has(object.metadata.resourceVersion ?? '')) return;
    this.#set(key, object, new Set());
  }

  #set(key: string, object: T, superseded: Set<string>): void {
    const before = this.#entries.get(key)?.facts;
    const derived = this.#derive(object);
    const facts = before !== undefined && sameContent(before, derived) ? before : derived;
    this.#entries.set(key, { object, facts, superseded });
    if (facts !== before) this.#changed(key, before, facts);
  }

  #drop(key: string, uid: string | undefined): void {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.object.metadata.uid !== uid) return;
    this.#entries.delete(key);
    this.#changed(key, entry.facts, undefined);
  }
}
