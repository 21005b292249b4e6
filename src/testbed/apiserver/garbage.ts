import { find, type Backend } from './backend.ts';
import { FOREGROUND, ORPHAN, releaseFinalizers, remove, type DeleteOptions } from './deletes.ts';
import type { ApiObject, Owner } from './json.ts';
import type { Kind } from './kinds.ts';
import type { Change } from './store.ts';

const BACKGROUND: DeleteOptions = {
  gracePeriodSeconds: undefined,
  propagationPolicy: 'Background',
  uid: undefined,
  resourceVersion: undefined,
  dryRun: false,
};

/**
 * What kube-controller-manager's garbage collector and namespace controller would do, done at once after each write: dependents of a gone owner
 * go, foreground and orphan deletions end, an emptied namespace ends.
 */
export class Garbage {
  readonly #backend: Backend;
  /** uid of an owner → its dependents, by `storage key`. */
  readonly #dependents = new Map<string, Map<string, { kind: Kind; object: ApiObject }>>();
  readonly #pending: { kind: Kind; object: ApiObject; gone: boolean }[] = [];
  #collecting = false;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Notes a change of a collection. Cheap for objects without owners and without a deletion under way. */
  note(kind: Kind, change: Change): void {
    const place = `${kind.storage} ${change.key}`;
    for (const owner of change.previous?.metadata.ownerReferences ?? []) this.#dependents.get(owner.uid)?.delete(place);
    if (change.type !== 'DELETED') {
      for (const owner of change.object.metadata.ownerReferences ?? []) this.#dependentsOf(owner.uid).set(place, { kind, object: change.object });
    }
    const gone = change.type === 'DELETED';
    if (gone || change.object.metadata.deletionTimestamp !== undefined) this.#pending.push({ kind, object: change.object, gone });
    else if (change.object.metadata.ownerReferences !== undefined && change.type === 'ADDED')
      this.#pending.push({ kind, object: change.object, gone });
  }

  /** Works until nothing is left to do. */
  collect(): void {
    if (this.#collecting || this.#pending.length === 0) return;
    this.#collecting = true;
    try {
      for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) this.#handle(next.kind, next.object, next.gone);
    } finally {
      this.#collecting = false;
    }
  }

  #handle(kind: Kind, object: ApiObject, gone: boolean): void {
    const { uid = '', deletionTimestamp, finalizers = [], namespace = '' } = object.metadata;
    if (gone) {
      for (const one of this.#take(uid)) this.#dropOwner(one.kind, one.object, uid);
      this.#dependents.delete(uid);
      for (const owner of object.metadata.ownerReferences ?? []) this.#finishForeground(owner, namespace);
      if (namespace !== '') this.#endNamespace(namespace);
      return;
    }
    if (deletionTimestamp === undefined) {
      if ((object.metadata.ownerReferences ?? []).every((owner) => this.#isAbsent(owner, namespace))) this.#delete(kind, object);
      return;
    }
    if (kind.storage === 'namespaces') this.#emptyNamespace(object.metadata.name);
    if (finalizers.includes(ORPHAN)) {
      for (const one of this.#take(uid)) this.#orphan(one.kind, one.object, uid);
      releaseFinalizers(this.#backend, kind, object, [ORPHAN]);
    } else if (finalizers.includes(FOREGROUND)) {
      for (const one of this.#take(uid)) this.#delete(one.kind, one.object);
      if (this.#take(uid).length === 0) releaseFinalizers(this.#backend, kind, object, [FOREGROUND]);
    }
    for (const owner of object.metadata.ownerReferences ?? []) this.#finishForeground(owner, namespace);
  }

  #finishForeground(owner: Owner, namespace: string): void {
    const found = this.#ownerOf(owner, namespace);
    if (found?.object.metadata.uid !== owner.uid || !(found.object.metadata.finalizers ?? []).includes(FOREGROUND)) return;
    if (this.#take(owner.uid).length === 0) releaseFinalizers(this.#backend, found.kind, found.object, [FOREGROUND]);
  }

  #dropOwner(kind: Kind, object: ApiObject, uid: string): void {
    const current = this.#current(kind, object);
    if (current === undefined) return;
    const others = (current.metadata.ownerReferences ?? []).filter(
      (owner) => owner.uid !== uid && !this.#isAbsent(owner, current.metadata.namespace ?? ''),
    );
    if (others.length === 0) this.#delete(kind, current);
    else this.#orphan(kind, current, uid);
  }

  #orphan(kind: Kind, object: ApiObject, uid: string): void {
    const current = this.#current(kind, object);
    if (current === undefined) return;
    const { ownerReferences = [], ...metadata } = current.metadata;
    const left = ownerReferences.filter((owner) => owner.uid !== uid);
    this.#backend.store.put(kind.storage, {
      ...current,
      metadata: { ...metadata, name: current.metadata.name, ...(left.length === 0 ? {} : { ownerReferences: left }) },
    });
  }

  #delete(kind: Kind, object: ApiObject): void {
    const current = this.#current(kind, object);
    if (current !== undefined && current.metadata.deletionTimestamp === undefined) remove(this.#backend, kind, current, BACKGROUND);
  }

  #current(kind: Kind, object: ApiObject): ApiObject | undefined {
    const found = find(this.#backend, kind, object.metadata.namespace ?? '', object.metadata.name);
    return found?.metadata.uid === object.metadata.uid ? found : undefined;
  }

  #ownerOf(owner: Owner, namespace: string): { kind: Kind; object: ApiObject } | undefined {
    const slash = owner.apiVersion.indexOf('/');
    const kind = this.#backend.registry.findKind(slash < 0 ? '' : owner.apiVersion.slice(0, slash), owner.kind);
    if (kind === undefined) return undefined;
    const object = find(this.#backend, kind, namespace, owner.name);
    return object === undefined ? undefined : { kind, object };
  }

  /** An owner of an unknown kind counts as there: nothing is deleted on a guess. */
  #isAbsent(owner: Owner, namespace: string): boolean {
    const slash = owner.apiVersion.indexOf('/');
    const known = this.#backend.registry.findKind(slash < 0 ? '' : owner.apiVersion.slice(0, slash), owner.kind) !== undefined;
    return known && this.#ownerOf(owner, namespace)?.object.metadata.uid !== owner.uid;
  }

  #take(uid: string): { kind: Kind; object: ApiObject }[] {
    return [...(this.#dependents.get(uid)?.values() ?? [])];
  }

  #dependentsOf(uid: string): Map<string, { kind: Kind; object: ApiObject }> {
    let found = this.#dependents.get(uid);
    if (found === undefined) {
      found = new Map();
      this.#dependents.set(uid, found);
    }
    return found;
  }

  #emptyNamespace(namespace: string): void {
    for (const kind of this.#contained()) {
      for (const object of this.#backend.store.collection(kind.storage).inNamespace(namespace)) {
        if (object.metadata.deletionTimestamp === undefined) remove(this.#backend, kind, object, BACKGROUND);
      }
    }
    this.#endNamespace(namespace);
  }

  #endNamespace(namespace: string): void {
    const namespaces = this.#backend.store.collection('namespaces');
    const object = namespaces.get(namespace);
    if (object?.metadata.deletionTimestamp === undefined || (object.metadata.finalizers ?? []).length > 0) return;
    const isEmpty = this.#contained().every((kind) => this.#backend.store.collection(kind.storage).inNamespace(namespace).length === 0);
    if (isEmpty) this.#backend.store.remove('namespaces', object);
  }

  #contained(): Kind[] {
    return this.#backend.registry.all().filter((kind) => kind.namespaced && !kind.virtual);
  }
}
