import { copy, isObject, type Json, type JsonObject } from '../json.ts';

/** RFC 7386. Unchanged parts are shared with the original. */
export function applyMergePatch(original: JsonObject, patch: JsonObject): JsonObject {
  const result: JsonObject = { ...original };
  for (const [name, change] of Object.entries(patch)) {
    if (change === undefined) continue;
    if (change === null) Reflect.deleteProperty(result, name);
    else result[name] = merged(result[name], change);
  }
  return result;
}

function merged(value: Json | undefined, change: Json): Json {
  if (!isObject(change)) return copy(change);
  return applyMergePatch(isObject(value) ? value : {}, change);
}
