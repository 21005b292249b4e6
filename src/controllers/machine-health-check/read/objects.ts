import { CLUSTER_API_GROUP, OPENSHIFT_GROUP } from '../../../ports/cluster-api.ts';
import type { UntypedObject } from '../../../ports/cluster-api.ts';
import type { Condition, ConditionLists, ConditionPaths } from '../conditions.ts';
import type { Flavour } from '../snapshot.ts';
import { Fields } from './fields.ts';

/** How the API server serves the kinds of Cluster API. */
export interface ServedAs {
  /** Its schema has both lists of conditions (Cluster API 1.9 and later); false: only that of its version. */
  hasBothLists: boolean;
}

export interface Header {
  apiVersion: string;
  namespace: string;
  name: string;
  uid: string;
  resourceVersion?: string;
}

export function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
}

export function flavourOf(apiVersion: string): Flavour {
  return groupOf(apiVersion) === OPENSHIFT_GROUP ? 'openshift' : 'cluster-api';
}

export function headerOf({ apiVersion = '', metadata }: UntypedObject): Header {
  const { namespace = '', name, uid = '', resourceVersion } = metadata;
  return { apiVersion, namespace, name, uid, ...(resourceVersion !== undefined && { resourceVersion }) };
}

/** For members whose absence or wrong type is no more than absence. */
export function loosely(value: unknown): Fields {
  return new Fields(value, '', []);
}

/** Milliseconds of an RFC 3339 time; undefined when it is none. */
export function timeOf(text: string | undefined): number | undefined {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** `key: value` as an object without the member where there is no value. */
export function present<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Partial<Record<K, V>>);
}

/** Where the lists of conditions stand in an object of this version. */
export function pathsOf(apiVersion: string, { hasBothLists }: ServedAs): ConditionPaths {
  if (groupOf(apiVersion) !== CLUSTER_API_GROUP) return { v1beta1: ['conditions'] };
  if (apiVersion.endsWith('/v1beta2')) return { v1beta2: ['conditions'], ...(hasBothLists && { v1beta1: ['deprecated', 'v1beta1', 'conditions'] }) };
  if (apiVersion.endsWith('/v1beta1')) return { v1beta1: ['conditions'], ...(hasBothLists && { v1beta2: ['v1beta2', 'conditions'] }) };
  return { v1beta1: ['conditions'] };
}

function isCondition(value: unknown): value is Condition {
  return typeof value === 'object' && value !== null && 'type' in value && 'status' in value;
}

/** Conditions as they stand, whole: a patch writes the list back. */
export function conditionsOf(status: unknown, paths: ConditionPaths): ConditionLists {
  const listAt = (path: readonly string[] | undefined): Condition[] => {
    if (path === undefined) return [];
    const last = path.slice(0, -1).reduce((fields, name) => fields.child(name), loosely(status));
    const value = last.raw(path.at(-1) ?? '');
    return Array.isArray(value) ? value.filter(isCondition) : [];
  };
  return { v1beta2: listAt(paths.v1beta2), v1beta1: listAt(paths.v1beta1) };
}
