import { isObject, type Json, type JsonObject } from '../json.ts';
import { itemSchema, memberSchema } from './list-shape.ts';

/** metav1.MicroTime; every other time of a built-in kind is a metav1.Time, which has whole seconds. */
const MICRO_TIMES: readonly string[] = ['renewTime', 'acquireTime', 'eventTime', 'lastObservedTime'];
const FRACTION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+(Z|[+-]\d\d:\d\d)$/;

/** The value with fractions of seconds cut off where a built-in type has none. Returns the same value when there is nothing to cut. */
export function wholeSeconds(value: Json, schema: JsonObject | undefined): Json {
  if (schema === undefined) return value;
  if (typeof value === 'string') return schema['format'] === 'date-time' ? value.replace(FRACTION, '$1$2') : value;
  if (Array.isArray(value)) {
    const items = itemSchema(schema);
    const result = value.map((item) => wholeSeconds(item, items));
    return result.every((item, index) => item === value[index]) ? value : result;
  }
  return isObject(value) ? membersOf(value, schema) : value;
}

function membersOf(value: JsonObject, schema: JsonObject): JsonObject {
  const changed: JsonObject = {};
  for (const [name, content] of Object.entries(value)) {
    if (content === undefined || MICRO_TIMES.includes(name)) continue;
    const whole = wholeSeconds(content, memberSchema(schema, name));
    if (whole !== content) changed[name] = whole;
  }
  return Object.keys(changed).length === 0 ? value : { ...value, ...changed };
}
