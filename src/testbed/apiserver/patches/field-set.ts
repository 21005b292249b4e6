import { equal, isObject, type Json, type JsonObject } from '../json.ts';
import { itemKey, itemSchema, listShape, memberSchema, type ListShape } from '../schema/list-shape.ts';

/**
 * Fields as managedFields writes them (fieldsV1): `f:name` a member, `k:{...}` an item of a map list, `v:...` an item of a set, `.` the item itself.
 * An empty object is a field owned as a whole.
 */
export type FieldSet = JsonObject;

const ITSELF = '.';

/** All fields of a value. */
export function fieldsOf(value: Json | undefined, schema: JsonObject | undefined): FieldSet {
  if (isObject(value) && Object.keys(value).length > 0) {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => [`f:${name}`, fieldsOf(member, memberSchema(schema, name))]),
    );
  }
  if (!Array.isArray(value)) return {};
  const shape = listShape(schema);
  const items = itemSchema(schema);
  if (shape.type === 'set') return Object.fromEntries(value.map((item) => [`v:${JSON.stringify(item)}`, {}]));
  if (shape.type === 'map')
    return Object.fromEntries(value.map((item) => [`k:${itemKey(item, shape.keys, items)}`, { [ITSELF]: {}, ...fieldsOf(item, items) }]));
  return {};
}

/** Fields of `after` that `before` lacks or has otherwise. */
export function changedFields(before: Json | undefined, after: Json | undefined, schema: JsonObject | undefined): FieldSet | undefined {
  if (equal(before, after)) return undefined;
  if (isObject(after) && Object.keys(after).length > 0) {
    const old = isObject(before) ? before : {};
    const found: FieldSet = {};
    for (const [name, member] of Object.entries(after)) {
      if (member === undefined) continue;
      const inner = changedFields(old[name], member, memberSchema(schema, name));
      if (inner !== undefined) found[`f:${name}`] = inner;
    }
    return Object.keys(found).length === 0 ? undefined : found;
  }
  if (!Array.isArray(after)) return after === undefined ? undefined : {};
  const shape = listShape(schema);
  if (shape.type === 'atomic') return {};
  return changedItems(Array.isArray(before) ? before : [], after, shape, itemSchema(schema));
}

function changedItems(before: readonly Json[], after: readonly Json[], shape: ListShape, schema: JsonObject | undefined): FieldSet | undefined {
  const found: FieldSet = {};
  const old = new Map(before.map((item) => [identityOf(item, shape, schema), item]));
  for (const item of after) {
    const identity = identityOf(item, shape, schema);
    const known = old.get(identity);
    if (known === undefined) found[identity] = shape.type === 'map' ? { [ITSELF]: {}, ...fieldsOf(item, schema) } : {};
    else {
      const inner = changedFields(known, item, schema);
      if (inner !== undefined) found[identity] = inner;
    }
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

/** How fieldsV1 names an item of a map list or a set. */
export function identityOf(item: Json, shape: ListShape, schema: JsonObject | undefined): string {
  return shape.type === 'map' ? `k:${itemKey(item, shape.keys, schema)}` : `v:${JSON.stringify(item)}`;
}

export function union(one: FieldSet, other: FieldSet): FieldSet {
  const result: FieldSet = { ...one };
  for (const [name, inner] of Object.entries(other)) {
    const known = result[name];
    result[name] = isObject(known) && isObject(inner) ? union(known, inner) : inner;
  }
  return result;
}

/** Fields of `one` that are not in `other`; a whole field takes all that lies below it. */
export function difference(one: FieldSet, other: FieldSet): FieldSet {
  const result: FieldSet = {};
  for (const [name, inner] of Object.entries(one)) {
    const known = other[name];
    if (known === undefined || !isObject(inner)) {
      result[name] = inner;
      continue;
    }
    if (!isObject(known) || Object.keys(known).length === 0 || Object.keys(inner).length === 0) continue;
    const rest = difference(inner, known);
    if (Object.keys(rest).length > 0) result[name] = rest;
  }
  return result;
}

/** Fields of the set that still exist in a value. */
export function existing(set: FieldSet, value: Json | undefined, schema: JsonObject | undefined): FieldSet {
  const result: FieldSet = {};
  const present = fieldChildren(value, schema);
  for (const [name, inner] of Object.entries(set)) {
    if (name === ITSELF) result[name] = {};
    const child = present.get(name);
    if (child === undefined || !isObject(inner)) continue;
    const rest = existing(inner, child.value, child.schema);
    if (Object.keys(inner).length === 0 || Object.keys(rest).length > 0) result[name] = rest;
  }
  return result;
}

export interface FieldChild {
  value: Json;
  schema: JsonObject | undefined;
}

/** The parts of a value by their fieldsV1 names. */
export function fieldChildren(value: Json | undefined, schema: JsonObject | undefined): Map<string, FieldChild> {
  if (isObject(value)) {
    return new Map(
      Object.entries(value).flatMap(([name, member]): [string, FieldChild][] =>
        member === undefined ? [] : [[`f:${name}`, { value: member, schema: memberSchema(schema, name) }]],
      ),
    );
  }
  const shape = listShape(schema);
  if (!Array.isArray(value) || shape.type === 'atomic') return new Map();
  const items = itemSchema(schema);
  return new Map(value.map((item) => [identityOf(item, shape, items), { value: item, schema: items }]));
}

/** Leaf fields as a person reads them: `.spec.taints`, `.status.conditions[type="Ready"].status`. */
export function fieldPaths(set: FieldSet, prefix = ''): string[] {
  return Object.entries(set).flatMap(([name, inner]) => {
    if (name === ITSELF) return [];
    const path = prefix + readable(name);
    return isObject(inner) && Object.keys(inner).some((key) => key !== ITSELF) ? fieldPaths(inner, path) : [path];
  });
}

function readable(name: string): string {
  const rest = name.slice(2);
  if (name.startsWith('f:')) return `.${rest}`;
  if (name.startsWith('v:')) return `[=${rest}]`;
  const keys = JSON.parse(rest) as JsonObject;
  return `[${Object.entries(keys)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join(',')}]`;
}
