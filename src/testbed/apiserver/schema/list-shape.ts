import { at, isObject, isString, listAt, type Json, type JsonObject } from '../json.ts';

/** How two versions of a list are merged: as one value, by the keys of their items, or as a set of scalars. */
export type ListShape = { type: 'atomic' } | { type: 'map'; keys: readonly string[] } | { type: 'set' };

const ATOMIC: ListShape = { type: 'atomic' };

/** Server-side apply's view of a list (`x-kubernetes-list-type`). */
export function listShape(schema: JsonObject | undefined): ListShape {
  switch (schema?.['x-kubernetes-list-type']) {
    case 'map':
      return { type: 'map', keys: listAt(schema, 'x-kubernetes-list-map-keys').filter(isString) };
    case 'set':
      return { type: 'set' };
    default:
      return ATOMIC;
  }
}

/** The strategic merge patch's view (`x-kubernetes-patch-merge-key`); only built-in kinds have one. */
export function patchShape(schema: JsonObject | undefined): ListShape {
  const key = schema?.['x-kubernetes-patch-merge-key'];
  if (typeof key === 'string') return { type: 'map', keys: [key] };
  return schema?.['x-kubernetes-patch-strategy'] === 'merge' ? { type: 'set' } : ATOMIC;
}

/** The schema of a member: a named property, else the schema of all other members. */
export function memberSchema(schema: JsonObject | undefined, name: string): JsonObject | undefined {
  if (schema === undefined) return undefined;
  const properties = schema['properties'];
  const property = isObject(properties) ? properties[name] : undefined;
  if (isObject(property)) return property;
  const others = schema['additionalProperties'];
  return isObject(others) ? others : undefined;
}

export function itemSchema(schema: JsonObject | undefined): JsonObject | undefined {
  const items = schema?.['items'];
  return isObject(items) ? items : undefined;
}

/** The identity of an item of a map list, as managedFields writes it: `{"type":"Ready"}`. Absent keys take the schema's default. */
export function itemKey(item: Json | undefined, keys: readonly string[], schema: JsonObject | undefined): string {
  const identity: JsonObject = {};
  for (const key of [...keys].sort()) {
    const value = at(item, key) ?? at(schema, 'properties', key, 'default');
    if (value !== undefined) identity[key] = value;
  }
  return JSON.stringify(identity);
}
