import { copy, isObject, type Json, type JsonObject } from '../json.ts';
import { itemSchema, memberSchema } from './list-shape.ts';
import { member } from './validate.ts';

/** Members that a schema does not name, as field paths, in reading order. Objects without a schema of their own are taken as they are. */
export function unknownFields(value: Json | undefined, schema: JsonObject | undefined, path = ''): string[] {
  if (schema === undefined || value === undefined) return [];
  if (Array.isArray(value)) {
    const items = itemSchema(schema);
    return value.flatMap((item, index) => unknownFields(item, items, `${path}[${String(index)}]`));
  }
  if (!isObject(value) || schema['x-kubernetes-int-or-string'] === true) return [];
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true;
  return Object.entries(value).flatMap(([name, content]) => {
    const known = memberSchema(schema, name);
    if (known !== undefined) return unknownFields(content, known, member(path, name));
    return open || schema['additionalProperties'] !== undefined || builtInMember(schema, name) ? [] : [member(path, name)];
  });
}

/** Drops what the schema does not name. Returns the same value when there is nothing to drop. */
export function prune(value: Json, schema: JsonObject | undefined): Json {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    const items = itemSchema(schema);
    return items === undefined
      ? value
      : changed(
          value,
          value.map((item) => prune(item, items)),
        );
  }
  if (!isObject(value) || schema['x-kubernetes-int-or-string'] === true) return value;
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true || schema['additionalProperties'] !== undefined;
  const result: JsonObject = {};
  let differs = false;
  for (const [name, content] of Object.entries(value)) {
    const known = memberSchema(schema, name);
    if (content === undefined || (known === undefined && !open && !builtInMember(schema, name))) {
      differs = true;
      continue;
    }
    const kept = known === undefined ? content : prune(content, known);
    differs ||= kept !== content;
    result[name] = kept;
  }
  return differs ? result : value;
}

/** Drops members that are null where none is admitted and no default stands in. */
export function dropNulls(value: Json, schema: JsonObject | undefined): Json {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    const items = itemSchema(schema);
    return items === undefined
      ? value
      : changed(
          value,
          value.map((item) => dropNulls(item, items)),
        );
  }
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  let differs = false;
  for (const [name, content] of Object.entries(value)) {
    const known = memberSchema(schema, name);
    if (content === null && known !== undefined && known['nullable'] !== true && known['default'] === undefined) {
      differs = true;
      continue;
    }
    const kept = content === undefined || known === undefined ? content : dropNulls(content, known);
    differs ||= kept !== content;
    result[name] = kept;
  }
  return differs ? result : value;
}

/** Puts defaults where members are absent; a null that is not admitted and has a default counts as absent. */
export function applyDefaults(value: Json, schema: JsonObject | undefined): Json {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    const items = itemSchema(schema);
    return items === undefined
      ? value
      : changed(
          value,
          value.map((item) => applyDefaults(item, items)),
        );
  }
  if (!isObject(value)) return value;
  const result: JsonObject = { ...value };
  let differs = false;
  const properties = schema['properties'];
  for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
    if (!isObject(property) || property['default'] === undefined) continue;
    if (result[name] === undefined || (result[name] === null && property['nullable'] !== true)) {
      result[name] = copy(property['default']);
      differs = true;
    }
  }
  for (const [name, content] of Object.entries(result)) {
    const known = memberSchema(schema, name);
    if (known === undefined || content === undefined) continue;
    const filled = applyDefaults(content, known);
    differs ||= filled !== content;
    result[name] = filled;
  }
  return differs ? result : value;
}

/** Type and metadata are known at the root and in embedded resources without being named. */
function builtInMember(schema: JsonObject, name: string): boolean {
  return schema['x-kubernetes-embedded-resource'] === true && ['apiVersion', 'kind', 'metadata'].includes(name);
}

function changed(before: Json[], after: Json[]): Json[] {
  return after.every((item, index) => item === before[index]) ? before : after;
}
