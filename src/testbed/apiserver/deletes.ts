import { find, type Backend } from './backend.ts';
import { seconds } from './clock-text.ts';
import { badRequest, conflict, forbidden, qualified, success } from './failure.ts';
import { at, isObject, metadataWithout, textAt, type ApiObject, type Json, type JsonObject } from './json.ts';
import type { Kind } from './kinds.ts';

export interface DeleteOptions {
  gracePeriodSeconds: number | undefined;
  propagationPolicy: 'Orphan' | 'Background' | 'Foreground' | undefined;
  uid: string | undefined;
  resourceVersion: string | undefined;
  dryRun: boolean;
}

export const FOREGROUND = 'foregroundDeletion';
export const ORPHAN = 'orphan';
const ANSWERED_WITH_OBJECT = ['pods', 'persistentvolumes', 'persistentvolumeclaims', 'namespaces', 'serviceaccounts', 'services'];

/** Reads the options from the body and the query of a DELETE; the body wins. */
export function parseDeleteOptions(body: Json | undefined, query: Readonly<Record<string, string>>): DeleteOptions {
  const options = isObject(body) ? body : {};
  const grace = options['gracePeriodSeconds'] ?? (query['gracePeriodSeconds'] === undefined ? undefined : Number(query['gracePeriodSeconds']));
  if (grace !== undefined && (typeof grace !== 'number' || !Number.isInteger(grace)))
    throw badRequest(`invalid gracePeriodSeconds: ${JSON.stringify(grace)}`);
  const policy = textAt(options, 'propagationPolicy') || (query['propagationPolicy'] ?? '');
  if (!['', 'Orphan', 'Background', 'Foreground'].includes(policy)) throw badRequest(`invalid propagationPolicy: ${policy}`);
  const uid = at(options, 'preconditions', 'uid');
  const resourceVersion = at(options, 'preconditions', 'resourceVersion');
  const dryRun = options['dryRun'];
  return {
    gracePeriodSeconds: grace,
    propagationPolicy:
      policy === 'Orphan' || policy === 'Background' || policy === 'Foreground'
        ? policy
        : options['orphanDependents'] === true
          ? 'Orphan'
          : undefined,
    uid: typeof uid === 'string' ? uid : undefined,
    resourceVersion: typeof resourceVersion === 'string' ? resourceVersion : undefined,
    dryRun: query['dryRun'] === 'All' || (Array.isArray(dryRun) && dryRun.includes('All')),
  };
}

export interface Deletion {
  /** What the client is told. */
  answer: JsonObject;
  /** The object as it was (gone) or as it now is (on its way out). */
  object: ApiObject;
  gone: boolean;
}

/** DELETE: removes the object, or marks it as being deleted while finalizers or a pod's grace period hold it. */
export function remove(backend: Backend, kind: Kind, before: ApiObject, options: DeleteOptions): Deletion {
  checkDeletePreconditions(kind, before, options);
  const { metadata } = before;
  if (qualified(kind) === 'namespaces' && ['default', 'kube-system', 'kube-public'].includes(metadata.name))
    throw forbidden(kind, metadata.name, 'this namespace may not be deleted');
  const finalizers = withPolicy(metadata.finalizers ?? [], options);
  const grace = graceOf(kind, before, options);
  const holds = finalizers.length > 0 || qualified(kind) === 'namespaces';
  if (grace === 0 && !holds) return removed(backend, kind, last(backend, kind, before, options), options);
  if (
    metadata.deletionTimestamp !== undefined &&
    (metadata.deletionGracePeriodSeconds ?? 0) <= grace &&
    finalizers.length === (metadata.finalizers ?? []).length
  ) {
    return { answer: before, object: before, gone: false };
  }
  const marked = mark(backend, before, finalizers, grace);
  if (qualified(kind) === 'namespaces') marked['status'] = { phase: 'Terminating' };
  const object = options.dryRun ? marked : backend.store.put(kind.storage, marked);
  return { answer: object, object, gone: false };
}

/** What watchers see last: a pod is marked with grace 0 before it goes, whatever its grace was. */
function last(backend: Backend, kind: Kind, before: ApiObject, options: DeleteOptions): ApiObject {
  if (qualified(kind) !== 'pods' || options.dryRun || before.metadata.deletionGracePeriodSeconds === 0) return before;
  return backend.store.put(kind.storage, mark(backend, before, [], 0));
}

/** 409 when the object is not the one, or not in the state, that the deletion names. */
export function checkDeletePreconditions(kind: Kind, before: ApiObject, options: DeleteOptions): void {
  const { name, uid = '', resourceVersion = '' } = before.metadata;
  const named = { ...kind, plural: kind.kind };
  if (options.uid !== undefined && options.uid !== uid) {
    throw conflict(
      named,
      name,
      `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    throw conflict(
      named,
      name,
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
}

function withPolicy(finalizers: readonly string[], options: DeleteOptions): string[] {
  const others = finalizers.filter((one) => one !== FOREGROUND && one !== ORPHAN);
  if (options.propagationPolicy === 'Foreground') return [...others, FOREGROUND];
  if (options.propagationPolicy === 'Orphan') return [...others, ORPHAN];
  return options.propagationPolicy === 'Background' ? others : [...finalizers];
}

/** Seconds that an object may still live: only a pod that runs on a node has any. */
function graceOf(kind: Kind, before: ApiObject, options: DeleteOptions): number {
  if (qualified(kind) !== 'pods') return 0;
  const ended = ['Failed', 'Succeeded'].includes(textAt(before, 'status', 'phase'));
  if (textAt(before, 'spec', 'nodeName') === '' || ended) return 0;
  const own = at(before, 'spec', 'terminationGracePeriodSeconds');
  const wanted = Math.max(0, options.gracePeriodSeconds ?? (typeof own === 'number' ? own : 30));
  const pending = before.metadata.deletionTimestamp === undefined ? undefined : before.metadata.deletionGracePeriodSeconds;
  return pending === undefined ? wanted : Math.min(pending, wanted);
}

function mark(backend: Backend, before: ApiObject, finalizers: readonly string[], grace: number): ApiObject {
  const { metadata } = before;
  const generation = metadata.generation === undefined || metadata.deletionTimestamp !== undefined ? metadata.generation : metadata.generation + 1;
  return {
    ...before,
    metadata: {
      ...metadata,
      ...(generation === undefined ? {} : { generation }),
      ...(finalizers.length === 0 ? {} : { finalizers: [...finalizers] }),
      deletionTimestamp:
        grace === 0 && metadata.deletionTimestamp !== undefined ? metadata.deletionTimestamp : seconds(backend.clock.wallMs() + grace * 1000),
      deletionGracePeriodSeconds: grace,
    },
  };
}

function removed(backend: Backend, kind: Kind, before: ApiObject, options: DeleteOptions): Deletion {
  const object = options.dryRun ? before : backend.store.remove(kind.storage, before);
  if (ANSWERED_WITH_OBJECT.includes(qualified(kind))) return { answer: object, object, gone: true };
  const { name, uid = '' } = before.metadata;
  return { answer: success({ name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.plural, uid }), object, gone: true };
}

/** Takes finalizers off an object and lets it go when none is left. */
export function releaseFinalizers(backend: Backend, kind: Kind, object: ApiObject, names: readonly string[]): void {
  const current = find(backend, kind, object.metadata.namespace ?? '', object.metadata.name);
  if (current?.metadata.uid !== object.metadata.uid || current === undefined) return;
  const left = (current.metadata.finalizers ?? []).filter((one) => !names.includes(one));
  const metadata = metadataWithout(current.metadata, 'finalizers');
  const next: ApiObject = { ...current, metadata: { ...metadata, ...(left.length === 0 ? {} : { finalizers: left }) } };
  if (left.length === 0 && current.metadata.deletionTimestamp !== undefined) backend.store.remove(kind.storage, next);
  else backend.store.put(kind.storage, next);
}
