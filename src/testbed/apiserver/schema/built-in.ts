import type { Kind } from '../kinds.ts';
import { isObject, type JsonObject } from '../json.ts';
import { TYPE_NOTATION } from './types.ts';

const lines = new Map(
  TYPE_NOTATION.trim()
    .split('\n')
    .map((line) => [line.split(' ', 1)[0] ?? '', line.split(' ').slice(1)]),
);
const compiled = new Map<string, JsonObject>();

/** Names of the types in the notation that are used by name. */
export function definedTypes(): string[] {
  return [...lines.keys()];
}

/** A type with every named type that it uses shown by `named`, for documents with references. */
export function typeFields(name: string, named: (type: string) => JsonObject): JsonObject {
  return compile(name, named, {});
}

/** The schema of a named type, with the types it uses in place. Compiled once; the graph is shared and must not be changed. */
export function typeSchema(name: string): JsonObject {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const schema: JsonObject = {};
  compiled.set(name, schema);
  return compile(name, typeSchema, schema);
}

function compile(name: string, named: (type: string) => JsonObject, schema: JsonObject): JsonObject {
  const properties: JsonObject = {};
  const required: string[] = [];
  Object.assign(schema, { type: 'object', properties });
  for (const field of lines.get(name) ?? []) {
    const [left = '', type = 'string'] = field.split(':');
    const property = left.replace('!', '');
    if (left.endsWith('!')) required.push(property);
    properties[property] = fieldSchema(type, named);
  }
  if (required.length > 0) schema['required'] = required;
  return schema;
}

/** The schema of a built-in kind: type, object metadata and the fields of the notation. */
export function builtInSchema(kind: Pick<Kind, 'kind'>): JsonObject {
  const name = `${kind.kind}()`;
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const own = typeSchema(kind.kind)['properties'];
  const required = typeSchema(kind.kind)['required'];
  const schema: JsonObject = {
    type: 'object',
    properties: { apiVersion: { type: 'string' }, kind: { type: 'string' }, metadata: typeSchema('ObjectMeta'), ...(isObject(own) ? own : {}) },
    ...(required === undefined ? {} : { required }),
  };
  compiled.set(name, schema);
  return schema;
}

function fieldSchema(type: string, named: (type: string) => JsonObject): JsonObject {
  const list = /^\[(\w+)(?:([|~])([\w,]*))?\]$/.exec(type);
  if (list !== null) return listSchema(fieldSchema(list[1] ?? '', named), list[2], list[3] ?? '');
  const map = /^\{(\w+)\}$/.exec(type);
  if (map !== null) return { type: 'object', additionalProperties: fieldSchema(map[1] ?? '', named) };
  switch (type) {
    case 'string':
      return { type: 'string' };
    case 'quantity':
      return { 'x-kubernetes-int-or-string': true };
    case 'int':
      return { type: 'integer' };
    case 'bool':
      return { type: 'boolean' };
    case 'time':
      return { type: 'string', format: 'date-time', nullable: true };
    case 'intorstring':
      return { 'x-kubernetes-int-or-string': true };
    case 'any':
      return { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
    default:
      return named(type);
  }
}

function listSchema(items: JsonObject, merge: string | undefined, keys: string): JsonObject {
  const first = keys.split(',')[0] ?? '';
  if (merge === undefined) return { type: 'array', items, 'x-kubernetes-list-type': 'atomic' };
  if (keys === '') return { type: 'array', items, 'x-kubernetes-list-type': 'set', 'x-kubernetes-patch-strategy': 'merge' };
  const patch = { 'x-kubernetes-patch-merge-key': first, 'x-kubernetes-patch-strategy': 'merge' };
  if (merge === '~') return { type: 'array', items, 'x-kubernetes-list-type': 'atomic', ...patch };
  return { type: 'array', items, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys.split(','), ...patch };
}
