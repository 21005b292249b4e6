import { expired } from './failure.ts';
import { freeze, type ApiObject } from './json.ts';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One write as the store keeps it for watches. `previous` is absent for an addition; for a deletion `object` is the last state with the deletion's resourceVersion. */
export interface Change {
  revision: number;
  type: ChangeType;
  key: string;
  object: ApiObject;
  previous: ApiObject | undefined;
}

/** `name`, or `namespace/name`: also the order of lists. */
export function keyOf(object: ApiObject): string {
  const { name, namespace } = object.metadata;
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/** Objects of one resource by key, in key order, with the bounded history that watches and paged lists read. */
export class Collection {
  readonly #objects = new Map<string, ApiObject>();
  readonly #keys: string[] = [];
  #history: Change[] = [];
  /** Changes up to this revision are no longer known. */
  #compactedRevision = 0;
  readonly #historyLimit: number;
  readonly #listeners = new Set<(change: Change) => void>();
  /** Another number after each change. */
  #version = 0;

  constructor(historyLimit: number) {
    this.#historyLimit = historyLimit;
  }

  get size(): number {
    return this.#objects.size;
  }

  get version(): number {
    return this.#version;
  }

  get(key: string): ApiObject | undefined {
    return this.#objects.get(key);
  }

  /** All objects of a namespace ('' for all), in key order. */
  inNamespace(namespace: string): ApiObject[] {
    const prefix = namespace === '' ? '' : `${namespace}/`;
    const found: ApiObject[] = [];
    for (let index = prefix === '' ? 0 : this.#position(prefix); index < this.#keys.length; index++) {
      const key = this.#keys[index];
      if (key === undefined || !key.startsWith(prefix)) break;
      const object = this.#objects.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }

  /** The collection as it stood at a revision; 410 when the history does not reach back so far. */
  inNamespaceAt(namespace: string, revision: number): ApiObject[] {
    if (revision < this.#compactedRevision) throw this.#tooOld(revision);
    if (this.#lastRevision() <= revision) return this.inNamespace(namespace);
    const then = new Map(this.inNamespace(namespace).map((object) => [keyOf(object), object]));
    const prefix = namespace === '' ? '' : `${namespace}/`;
    for (let index = this.#history.length - 1; index >= 0; index--) {
      const change = this.#history[index];
      if (change === undefined || change.revision <= revision) break;
      if (!change.key.startsWith(prefix)) continue;
      if (change.previous === undefined) then.delete(change.key);
      else then.set(change.key, change.previous);
    }
    return [...then.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, object]) => object);
  }

  /** Changes after a revision, oldest first; 410 when some are no longer known. */
  changesSince(revision: number): readonly Change[] {
    if (revision < this.#compactedRevision) throw this.#tooOld(revision);
    let first = this.#history.length;
    while (first > 0 && (this.#history[first - 1]?.revision ?? 0) > revision) first--;
    return this.#history.slice(first);
  }

  apply(change: Change): void {
    this.#version++;
    if (change.type === 'DELETED') {
      this.#objects.delete(change.key);
      const position = this.#position(change.key);
      if (this.#keys[position] === change.key) this.#keys.splice(position, 1);
    } else {
      if (!this.#objects.has(change.key)) this.#keys.splice(this.#position(change.key), 0, change.key);
      this.#objects.set(change.key, change.object);
    }
    this.#history.push(change);
    if (this.#history.length > 2 * this.#historyLimit) this.#forget(this.#history.length - this.#historyLimit);
    for (const listener of [...this.#listeners]) listener(change);
  }

  /** Forgets all changes up to now, as a compaction of etcd would. */
  compact(revision: number): void {
    this.#history = [];
    this.#compactedRevision = Math.max(this.#compactedRevision, revision);
  }

  all(): ApiObject[] {
    return [...this.#objects.values()];
  }

  /** Holds exactly these objects, as of that revision, and knows nothing of how they came about. Nobody is told. */
  replace(objects: readonly ApiObject[], revision: number): void {
    this.#version++;
    this.#objects.clear();
    for (const object of objects) this.#objects.set(keyOf(object), object);
    this.#keys.splice(0, this.#keys.length, ...[...this.#objects.keys()].sort((one, other) => (one < other ? -1 : 1)));
    this.#history = [];
    this.#compactedRevision = revision;
  }

  onChange(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #forget(count: number): void {
    this.#compactedRevision = this.#history[count - 1]?.revision ?? this.#compactedRevision;
    this.#history = this.#history.slice(count);
  }

  #lastRevision(): number {
    return this.#history.at(-1)?.revision ?? this.#compactedRevision;
  }

  #tooOld(revision: number): Error {
    return expired(`too old resource version: ${String(revision)} (${String(this.#compactedRevision)})`);
  }

  /** Where a key stands or would stand. */
  #position(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#keys[middle] ?? '') < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** What a backup of etcd holds. */
export interface StoreBackup {
  revision: number;
  objects: ReadonlyMap<string, readonly ApiObject[]>;
}

/** All collections under one counter of revisions, as etcd has it. */
export class Store {
  #counter = 1;
  readonly #collections = new Map<string, Collection>();
  readonly #historyLimit: number;

  constructor(historyLimit: number) {
    this.#historyLimit = historyLimit;
  }

  get revision(): number {
    return this.#counter;
  }

  collection(name: string): Collection {
    let found = this.#collections.get(name);
    if (found === undefined) {
      found = new Collection(this.#historyLimit);
      this.#collections.set(name, found);
    }
    return found;
  }

  names(): string[] {
    return [...this.#collections.keys()];
  }

  /** Writes an object under the next revision and returns it as stored: frozen, to be shared by all readers. */
  put(name: string, object: ApiObject): ApiObject {
    const collection = this.collection(name);
    const key = keyOf(object);
    const previous = collection.get(key);
    const revision = ++this.#counter;
    const stored: ApiObject = freeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });
    collection.apply({ revision, type: previous === undefined ? 'ADDED' : 'MODIFIED', key, object: stored, previous });
    return stored;
  }

  /** Removes an object; watches see its last state under the deletion's revision. */
  remove(name: string, object: ApiObject): ApiObject {
    const collection = this.collection(name);
    const key = keyOf(object);
    const revision = ++this.#counter;
    const last: ApiObject = freeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(revision) } });
    collection.apply({ revision, type: 'DELETED', key, object: last, previous: collection.get(key) });
    return last;
  }

  backup(): StoreBackup {
    return { revision: this.#counter, objects: new Map([...this.#collections].map(([name, collection]) => [name, collection.all()])) };
  }

  /** Everything stands as it stood in the backup, the counter of revisions too. */
  restore({ revision, objects }: StoreBackup): void {
    this.#counter = revision;
    for (const name of new Set([...objects.keys(), ...this.#collections.keys()])) this.collection(name).replace(objects.get(name) ?? [], revision);
  }

  /** The counter goes on from here, as if so much more had been written. */
  advance(revisions: number): void {
    this.#counter += revisions;
  }

  /** Forgets the history of everything: older watches and continue tokens answer 410 from now on. */
  compact(): void {
    for (const collection of this.#collections.values()) collection.compact(this.#counter);
  }
}
