import { isObject, type Json, type JsonObject } from '../json.ts';
import { itemSchema, memberSchema } from './list-shape.ts';

/** metav1.MicroTime; every other time of a built-in kind is a metav1.Time, which has whole seconds. */
const MICRO_TIMES: readonly string[] = ['renewTime', 'acquireTime', 'eventTime', 'lastObservedTime'];
const FRACTION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+(Z|[+-]\d\d:\d\d)$/;

const timed = new WeakMap<JsonObject, boolean>();

/** Whether a value of this schema can hold a time of whole seconds anywhere. */
function hasTimes(schema: JsonObject): boolean {
  let found = timed.get(schema);
  if (found === undefined) timed.set(schema, (found = findsTime(schema, new Set())));
  return found;
}

function findsTime(schema: JsonObject, seen: Set<JsonObject>): boolean {
  if (seen.has(schema)) return false;
  seen.add(schema);
  if (schema['format'] === 'date-time') return true;
  const { properties, additionalProperties, items } = schema;
  const named = Object.entries(isObject(properties) ? properties : {}).filter(([name]) => !MICRO_TIMES.includes(name));
  return [...named.map(([, property]) => property), additionalProperties, items].some((part) => isObject(part) && findsTime(part, seen));
}

/** The value with fractions of seconds cut off where a built-in type has none. Returns the same value when there is nothing to cut. */
export function wholeSeconds(value: Json, schema: JsonObject | undefined): Json {
  if (schema === undefined || !hasTimes(schema)) return value;
  if (typeof value === 'string') return schema['format'] === 'date-time' ? value.replace(FRACTION, '$1$2') : value;
  if (Array.isArray(value)) {
    const items = itemSchema(schema);
    const result = value.map((item) => wholeSeconds(item, items));
    return result.every((item, index) => item === value[index]) ? value : result;
  }
  return isObject(value) ? membersOf(value, schema) : value;
}

function membersOf(value: JsonObject, schema: JsonObject): JsonObject {
  let changed: JsonObject | undefined;
  for (const name in value) {
    const content = value[name];
    if (content === undefined || MICRO_TIMES.includes(name)) continue;
    const whole = wholeSeconds(content, memberSchema(schema, name));
    if (whole !== content) (changed ??= {})[name] = whole;
  }
  return changed === undefined ? value : { ...value, ...changed };
}
