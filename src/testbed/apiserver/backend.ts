import type { Clock } from '../../ports/clock.ts';
import type { Random } from '../../ports/random.ts';
import { forbidden, notFound } from './failure.ts';
import type { ApiObject, JsonObject } from './json.ts';
import { apiVersionOf, type Kind } from './kinds.ts';
import type { Registry } from './registry.ts';
import { builtInSchema } from './schema/built-in.ts';
import type { Collection, Store } from './store.ts';

/** What every verb works on. */
export interface Backend {
  store: Store;
  registry: Registry;
  clock: Clock;
  random: Random;
  /** `all`: every write tracks field managers, as a real server does. `applied`: only objects that were applied server-side. */
  managedFields: 'all' | 'applied';
  logOf: ContainerLog;
}

/** What a container has written, as its kubelet tells; undefined while it has not begun. */
export type ContainerLog = (namespace: string, pod: string, container: string) => string | undefined;

/** The facts of one write that reach beyond its body. */
export interface WriteContext {
  dryRun: boolean;
  manager: string;
  fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  /** Warnings for the client, sent as `Warning` headers. */
  warnings: string[];
  /** The object carries its managers already (server-side apply). */
  applied?: boolean;
}

export function collectionOf(backend: Backend, kind: Kind): Collection {
  return backend.store.collection(kind.storage);
}

export function keyFor(kind: Kind, namespace: string, name: string): string {
  return kind.namespaced ? `${namespace}/${name}` : name;
}

export function find(backend: Backend, kind: Kind, namespace: string, name: string): ApiObject | undefined {
  return collectionOf(backend, kind).get(keyFor(kind, namespace, name));
}

export function need(backend: Backend, kind: Kind, namespace: string, name: string): ApiObject {
  const found = find(backend, kind, namespace, name);
  if (found === undefined) throw notFound(kind, name);
  return found;
}

export function schemaOf(kind: Kind): JsonObject | undefined {
  return kind.custom ? kind.schema : builtInSchema(kind);
}

/** Refuses new objects in a namespace that is absent or on its way out. */
export function needNamespace(backend: Backend, kind: Kind, namespace: string, name: string): void {
  const found = backend.store.collection('namespaces').get(namespace);
  if (found === undefined) throw notFound({ group: '', plural: 'namespaces', kind: 'Namespace' }, namespace);
  if (found.metadata.deletionTimestamp !== undefined) {
    throw forbidden(kind, name, `unable to create new content in namespace ${namespace} because it is being terminated`);
  }
}

/** An object as one version of its kind shows it. Objects in the stored version are returned as they are. */
export function present(object: ApiObject, kind: Kind): ApiObject {
  const apiVersion = apiVersionOf(kind);
  if (object.apiVersion === apiVersion) return object;
  return kind.kind === 'Event' && !kind.custom ? eventAs(object, apiVersion) : { ...object, apiVersion };
}

const EVENT_NAMES: readonly (readonly [core: string, newer: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
];

/** Core events and events.k8s.io are one store with two vocabularies. */
export function eventAs(object: ApiObject, apiVersion: string): ApiObject {
  const toCore = apiVersion === 'v1';
  const result: ApiObject = { ...object, apiVersion };
  for (const [core, newer] of EVENT_NAMES) {
    const [from, to] = toCore ? [newer, core] : [core, newer];
    if (object[from] === undefined) continue;
    result[to] = object[from];
    Reflect.deleteProperty(result, from);
  }
  return result;
}

/** The form in which an object is stored: one apiVersion per collection. */
export function storedForm(object: ApiObject, kind: Kind): ApiObject {
  return kind.kind === 'Event' && kind.group === 'events.k8s.io' ? eventAs(object, 'v1') : object;
}
