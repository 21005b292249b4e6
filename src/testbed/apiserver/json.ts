/** JSON as the server holds it. Stored values are never changed in place: a change makes new objects along the changed path. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json | undefined };

export type Owner = { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean; blockOwnerDeletion?: boolean };

export type Metadata = {
  name: string;
  namespace?: string;
  generateName?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: Owner[];
  managedFields?: JsonObject[];
  [key: string]: Json | undefined;
};

export type ApiObject = { apiVersion: string; kind: string; metadata: Metadata; [key: string]: Json | undefined };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/** A deep copy as JSON would make it: members that are `undefined` are dropped. What is frozen is taken for `freeze`'s work and shared. */
export function copy<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  return (Array.isArray(value) ? value.map((item: unknown) => (item === undefined ? null : copy(item))) : copyMembers(value)) as T;
}

function copyMembers(value: object): object {
  const result: Record<string, unknown> = {};
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key];
    if (member !== undefined && typeof member !== 'function') result[key] = typeof member === 'object' ? copy(member) : member;
  }
  return result;
}

/** A deep copy that may be changed in place, of what is frozen too. */
export function thaw(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(thaw);
  const result: JsonObject = {};
  for (const name in value) {
    const content = value[name];
    if (content !== undefined) result[name] = thaw(content);
  }
  return result;
}

/** Freezes all the way down, so that readers may share it. */
export function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const key in value) freeze(value[key]);
  return Object.freeze(value);
}

/** Deep equality; a member that is `undefined` equals one that is absent. */
export function equal(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  if (Array.isArray(left)) {
    return Array.isArray(right) && left.length === right.length && left.every((item, index) => equal(item, right[index]));
  }
  if (Array.isArray(right)) return false;
  const one = left as Record<string, unknown>;
  const other = right as Record<string, unknown>;
  for (const key in one) if (!equal(one[key], other[key])) return false;
  for (const key in other) if (other[key] !== undefined && one[key] === undefined) return false;
  return true;
}

/** The value with the parts of another, frozen one in the place of its own that equal them: whoever remembers something of those need not look again. */
export function reuse(value: Json | undefined, known: Json | undefined): Json | undefined {
  if (typeof value !== 'object' || value === null || typeof known !== 'object' || known === null) return value;
  if (Array.isArray(value)) {
    if (!Array.isArray(known)) return value;
    const items = value.map((item, index) => reuse(item, known[index]) ?? null);
    return items.length === known.length && items.every((item, index) => item === known[index]) ? known : items;
  }
  if (Array.isArray(known)) return value;
  const names = Object.keys(value);
  const result: JsonObject = {};
  for (const name of names) result[name] = reuse(value[name], known[name]);
  return names.length === Object.keys(known).length && names.every((name) => result[name] === known[name]) ? known : result;
}

/** The value under a path of member names; `undefined` where the path ends early. */
export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let found: Json | undefined = value;
  for (const name of path) {
    if (!isObject(found)) return undefined;
    found = found[name];
  }
  return found;
}

/** The text under a path, or '' when there is none. */
export function textAt(value: Json | undefined, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

/** The array under a path, or an empty one. */
export function listAt(value: Json | undefined, ...path: readonly string[]): Json[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** The members under a path that are objects. */
export function objectsAt(value: Json | undefined, ...path: readonly string[]): JsonObject[] {
  return listAt(value, ...path).filter(isObject);
}

/** The value without some members. */
export function without(value: JsonObject, ...names: readonly string[]): JsonObject {
  const result: JsonObject = {};
  for (const name in value) if (!names.includes(name)) result[name] = value[name];
  return result;
}

export function metadataWithout(metadata: Metadata, ...names: readonly string[]): Metadata {
  return { ...without(metadata, ...names), name: metadata.name };
}

/** An object's members besides its type and metadata. */
export function contentOf(object: ApiObject): JsonObject {
  return without(object, 'apiVersion', 'kind', 'metadata');
}

/** A scalar as text, anything else as JSON, nothing as ''. */
export function shown(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
