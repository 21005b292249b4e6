import { copy, isObject, type Json, type JsonObject } from '../json.ts';
import { itemSchema, memberSchema } from './list-shape.ts';
import { member } from './validate.ts';

/** Members that a schema does not name, as field paths, in reading order. Objects without a schema of their own are taken as they are. */
export function unknownFields(value: Json | undefined, schema: JsonObject | undefined, path = ''): string[] {
  if (schema === undefined || typeof value !== 'object' || value === null || named.get(value) === schema) return [];
  const found = unknownIn(value, schema, path);
  if (found.length === 0 && Object.isFrozen(value)) named.set(value, schema);
  return found;
}

/** Frozen values in which a schema names everything. */
const named = new WeakMap<object, JsonObject>();

function unknownIn(value: Json[] | JsonObject, schema: JsonObject, path: string): string[] {
  if (Array.isArray(value)) {
    const items = itemSchema(schema);
    return value.flatMap((item, index) => unknownFields(item, items, `${path}[${String(index)}]`));
  }
  if (schema['x-kubernetes-int-or-string'] === true) return [];
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true;
  return Object.entries(value).flatMap(([name, content]) => {
    const known = memberSchema(schema, name);
    if (known !== undefined) return unknownFields(content, known, member(path, name));
    return open || schema['additionalProperties'] !== undefined || builtInMember(schema, name) ? [] : [member(path, name)];
  });
}

/** Drops what the schema does not name. Returns the same value when there is nothing to drop. */
export const prune = remembered((value, schema) => {
  if (Array.isArray(value)) return eachItem(value, schema, prune);
  if (schema['x-kubernetes-int-or-string'] === true) return value;
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true || schema['additionalProperties'] !== undefined;
  return eachMember(value, schema, (content, known, name) => {
    if (known !== undefined) return content === undefined ? undefined : prune(content, known);
    return open || builtInMember(schema, name) ? content : undefined;
  });
});

/** Drops members that are null where none is admitted and no default stands in. */
export const dropNulls = remembered((value, schema) => {
  if (Array.isArray(value)) return eachItem(value, schema, dropNulls);
  return eachMember(value, schema, (content, known) => {
    if (content === undefined || known === undefined) return content;
    return content === null && known['nullable'] !== true && known['default'] === undefined ? undefined : dropNulls(content, known);
  });
});

/** Puts defaults where members are absent; a null that is not admitted and has a default counts as absent. */
export const applyDefaults = remembered((value, schema) => {
  if (Array.isArray(value)) return eachItem(value, schema, applyDefaults);
  const missing: JsonObject = {};
  const properties = schema['properties'];
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    if (!isObject(property) || property['default'] === undefined) continue;
    if (value[name] === undefined || (value[name] === null && property['nullable'] !== true)) missing[name] = copy(property['default']);
  }
  const complete = Object.keys(missing).length === 0 ? value : { ...value, ...missing };
  return eachMember(complete, schema, (content, known) => (content === undefined || known === undefined ? content : applyDefaults(content, known)));
});

type Shape = (value: Json, schema: JsonObject | undefined) => Json;

/**
 * A change that leaves scalars alone. Parts of stored objects, which are frozen, are remembered when it left them as they are: most of a large
 * object comes again unchanged.
 */
function remembered(change: (value: Json[] | JsonObject, schema: JsonObject) => Json): Shape {
  const unchanged = new WeakMap<object, JsonObject>();
  return (value, schema) => {
    if (schema === undefined || typeof value !== 'object' || value === null || unchanged.get(value) === schema) return value;
    const result = change(value, schema);
    if (result === value && Object.isFrozen(value)) unchanged.set(value, schema);
    return result;
  };
}

function eachItem(value: Json[], schema: JsonObject, change: Shape): Json[] {
  const items = itemSchema(schema);
  if (items === undefined) return value;
  const result = value.map((item) => change(item, items));
  return result.every((item, index) => item === value[index]) ? value : result;
}

/** The object with each member changed; `undefined` drops it. The same object when nothing changes. */
function eachMember(
  value: JsonObject,
  schema: JsonObject,
  change: (content: Json | undefined, known: JsonObject | undefined, name: string) => Json | undefined,
): JsonObject {
  const result: JsonObject = {};
  let differs = false;
  for (const name in value) {
    const content = value[name];
    const kept = change(content, memberSchema(schema, name), name);
    differs ||= kept !== content;
    if (kept !== undefined) result[name] = kept;
  }
  return differs ? result : value;
}

/** Type and metadata are known at the root and in embedded resources without being named. */
function builtInMember(schema: JsonObject, name: string): boolean {
  return schema['x-kubernetes-embedded-resource'] === true && ['apiVersion', 'kind', 'metadata'].includes(name);
}
