import { equal, isObject, isString, listAt, type Json, type JsonObject } from '../json.ts';
import { formatMatches } from './formats.ts';
import { itemKey, itemSchema, listShape, type ListShape } from './list-shape.ts';

/** A schema taken apart once, so that a value is held against it without looking the words up again. */
interface Shape {
  schema: JsonObject;
  type: Json | undefined;
  admitsNull: boolean;
  isIntOrString: boolean;
  choices: readonly Json[] | undefined;
  pattern: RegExp | undefined;
  format: string | undefined;
  required: readonly string[];
  members: ReadonlyMap<string, Shape>;
  others: Shape | undefined;
  items: Shape | undefined;
  list: ListShape;
  isCombined: boolean;
  all: readonly Shape[];
  any: readonly (Shape | undefined)[];
  one: readonly (Shape | undefined)[];
  excluded: Shape | undefined;
}

const shapes = new WeakMap<JsonObject, Shape>();
/** Parts of stored objects, which are frozen, by the schema that they were last found to meet: most of a large object comes again unchanged. */
const met = new WeakMap<object, Shape>();

/** Whether `validate` would find nothing, without the words for what is wrong: nearly every write is right. */
export function meets(value: Json, schema: JsonObject): boolean {
  return holds(value, shapeOf(schema));
}

function shapeOf(schema: JsonObject): Shape {
  const known = shapes.get(schema);
  if (known !== undefined) return known;
  const members = new Map<string, Shape>();
  const pattern = schema['pattern'];
  const format = schema['format'];
  const choices = schema['enum'];
  const shape: Shape = {
    schema,
    type: schema['type'],
    admitsNull: schema['nullable'] === true || schema['type'] === undefined,
    isIntOrString: schema['x-kubernetes-int-or-string'] === true,
    choices: Array.isArray(choices) ? choices : undefined,
    pattern: isString(pattern) ? new RegExp(pattern, 'u') : undefined,
    format: isString(format) ? format : undefined,
    required: listAt(schema, 'required').filter(isString),
    members,
    others: undefined,
    items: undefined,
    list: listShape(schema),
    isCombined: ['allOf', 'anyOf', 'oneOf', 'not'].some((name) => schema[name] !== undefined),
    all: [],
    any: [],
    one: [],
    excluded: undefined,
  };
  // Before its parts are looked at: a schema may contain itself.
  shapes.set(schema, shape);
  const { properties, additionalProperties, not } = schema;
  if (isObject(properties)) for (const name in properties) if (isObject(properties[name])) members.set(name, shapeOf(properties[name]));
  if (isObject(additionalProperties)) shape.others = shapeOf(additionalProperties);
  const items = itemSchema(schema);
  if (items !== undefined) shape.items = shapeOf(items);
  const alternative = (one: Json): Shape | undefined => (isObject(one) ? shapeOf(one) : undefined);
  shape.all = listAt(schema, 'allOf').filter(isObject).map(shapeOf);
  shape.any = listAt(schema, 'anyOf').map(alternative);
  shape.one = listAt(schema, 'oneOf').map(alternative);
  if (not !== undefined) shape.excluded = isObject(not) ? shapeOf(not) : undefined;
  return shape;
}

function holds(value: Json, shape: Shape): boolean {
  if (value === null) return shape.admitsNull;
  if (typeof value === 'object' && met.get(value) === shape) return true;
  if (shape.isIntOrString) return isString(value) || Number.isInteger(value);
  if (shape.choices !== undefined && !shape.choices.some((one) => equal(one, value))) return false;
  const isMet = (isString(value) ? textHolds(value, shape) : plainHolds(value, shape)) && (!shape.isCombined || combinationsHold(value, shape));
  if (isMet && typeof value === 'object' && Object.isFrozen(value)) met.set(value, shape);
  return isMet;
}

function plainHolds(value: Exclude<Json, null | string>, shape: Shape): boolean {
  switch (typeof value) {
    case 'number':
      return (
        (shape.type === undefined || shape.type === 'number' || (shape.type === 'integer' && Number.isInteger(value))) && numberHolds(value, shape)
      );
    case 'boolean':
      return shape.type === undefined || shape.type === 'boolean';
    default:
      return Array.isArray(value) ? listHolds(value, shape) : objectHolds(value, shape);
  }
}

function textHolds(value: string, { type, schema, pattern, format }: Shape): boolean {
  if (type !== undefined && type !== 'string') return false;
  const { maxLength, minLength } = schema;
  // Counted in characters only where the cheap bound does not decide.
  if (typeof maxLength === 'number' && value.length > maxLength && Array.from(value).length > maxLength) return false;
  if (typeof minLength === 'number' && value.length < 2 * minLength && Array.from(value).length < minLength) return false;
  return (pattern === undefined || pattern.test(value)) && (format === undefined || formatMatches(format, value));
}

function numberHolds(value: number, { schema }: Shape): boolean {
  const { minimum, maximum, multipleOf, exclusiveMinimum, exclusiveMaximum } = schema;
  if (typeof minimum === 'number' && (exclusiveMinimum === true ? value <= minimum : value < minimum)) return false;
  if (typeof maximum === 'number' && (exclusiveMaximum === true ? value >= maximum : value > maximum)) return false;
  return typeof multipleOf !== 'number' || value % multipleOf === 0;
}

function listHolds(value: readonly Json[], { type, schema, items, list }: Shape): boolean {
  if (type !== undefined && type !== 'array') return false;
  const { maxItems, minItems } = schema;
  if (typeof maxItems === 'number' && value.length > maxItems) return false;
  if (typeof minItems === 'number' && value.length < minItems) return false;
  if (items !== undefined) for (const item of value) if (!holds(item, items)) return false;
  if (list.type === 'atomic' || value.length < 2) return true;
  const identities = value.map((item) => (list.type === 'map' ? itemKey(item, list.keys, items?.schema) : JSON.stringify(item)));
  return new Set(identities).size === identities.length;
}

function objectHolds(value: JsonObject, { type, schema, required, members, others }: Shape): boolean {
  if (type !== undefined && type !== 'object') return false;
  for (const name of required) if (value[name] === undefined) return false;
  const { maxProperties, minProperties } = schema;
  if (typeof maxProperties === 'number' && Object.keys(value).length > maxProperties) return false;
  if (typeof minProperties === 'number' && Object.keys(value).length < minProperties) return false;
  for (const name in value) {
    const content = value[name];
    const known = members.get(name) ?? others;
    if (content !== undefined && known !== undefined && !holds(content, known)) return false;
  }
  return true;
}

function combinationsHold(value: Json, { all, any, one, excluded }: Shape): boolean {
  const passes = (shape: Shape | undefined): boolean => shape !== undefined && holds(value, shape);
  if (!all.every(passes) || (any.length > 0 && !any.some(passes))) return false;
  return (one.length === 0 || one.filter(passes).length === 1) && !passes(excluded);
}
