import type { FieldCause } from '../failure.ts';
import { at, equal, isObject, isString, listAt, shown as plain, type Json, type JsonObject } from '../json.ts';
import { itemKey, itemSchema, listShape, memberSchema } from './list-shape.ts';
import { formatMatches } from './formats.ts';
import { meets } from './meets.ts';

/** Checks a value against a structural schema; the causes are worded as a real server words them. `path` is the field's name, '' at the root. */
export function validate(value: Json, schema: JsonObject, path: string): FieldCause[] {
  return meets(value, schema) ? [] : causesOf(value, schema, path);
}

/** Every cause in words, found without the short cut of `meets`. */
export function causesOf(value: Json, schema: JsonObject, path: string): FieldCause[] {
  const causes: FieldCause[] = [];
  check(value, schema, path, causes);
  return causes;
}

function check(value: Json, schema: JsonObject, path: string, causes: FieldCause[]): void {
  if (value === null) {
    if (schema['nullable'] !== true && schema['type'] !== undefined) causes.push(wrongType(path, 'null', schema));
    return;
  }
  if (schema['x-kubernetes-int-or-string'] === true) {
    if (!isString(value) && !Number.isInteger(value))
      causes.push(invalidValue(path, shown(value), `${path} in body must be of type integer or string`));
    return;
  }
  if (!typeMatches(value, schema['type'])) {
    causes.push(wrongType(path, typeName(value), schema));
    return;
  }
  checkEnum(value, schema, path, causes);
  if (isString(value)) checkString(value, schema, path, causes);
  else if (typeof value === 'number') checkNumber(value, schema, path, causes);
  else if (Array.isArray(value)) checkArray(value, schema, path, causes);
  else if (isObject(value)) checkObject(value, schema, path, causes);
  checkCombinations(value, schema, path, causes);
}

function typeMatches(value: Json, type: Json | undefined): boolean {
  switch (type) {
    case 'string':
      return isString(value);
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number';
    case 'boolean':
      return typeof value === 'boolean';
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    default:
      return true;
  }
}

function typeName(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function shown(value: Json): string {
  return JSON.stringify(value);
}

function invalidValue(field: string, value: string, message: string): FieldCause {
  return { field, reason: 'FieldValueInvalid', message: `Invalid value: ${value}: ${message}` };
}

function wrongType(path: string, found: string, schema: JsonObject): FieldCause {
  const message = `${path} in body must be of type ${plain(schema['type'])}: "${found}"`;
  return { field: path, reason: 'FieldValueTypeInvalid', message: `Invalid value: "${found}": ${message}` };
}

function checkEnum(value: Json, schema: JsonObject, path: string, causes: FieldCause[]): void {
  const allowed = schema['enum'];
  if (!Array.isArray(allowed) || allowed.some((one) => equal(one, value))) return;
  causes.push({
    field: path,
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${shown(value)}: supported values: ${allowed.map(shown).join(', ')}`,
  });
}

function checkString(value: string, schema: JsonObject, path: string, causes: FieldCause[]): void {
  const { maxLength, minLength, pattern, format } = schema;
  const length = Array.from(value).length;
  if (typeof maxLength === 'number' && length > maxLength) {
    causes.push({ field: path, reason: 'FieldValueTooLong', message: `Too long: may not be more than ${String(maxLength)} bytes` });
  }
  if (typeof minLength === 'number' && length < minLength)
    causes.push(invalidValue(path, shown(value), `${path} in body should be at least ${String(minLength)} chars long`));
  if (isString(pattern) && !new RegExp(pattern, 'u').test(value))
    causes.push(invalidValue(path, shown(value), `${path} in body should match '${pattern}'`));
  if (isString(format) && !formatMatches(format, value))
    causes.push(invalidValue(path, shown(value), `${path} in body must be of type ${format}: ${shown(value)}`));
}

function checkNumber(value: number, schema: JsonObject, path: string, causes: FieldCause[]): void {
  const { minimum, maximum, multipleOf } = schema;
  const low = schema['exclusiveMinimum'] === true;
  const high = schema['exclusiveMaximum'] === true;
  if (typeof minimum === 'number' && (low ? value <= minimum : value < minimum)) {
    causes.push(invalidValue(path, shown(value), `${path} in body should be greater than ${low ? '' : 'or equal to '}${String(minimum)}`));
  }
  if (typeof maximum === 'number' && (high ? value >= maximum : value > maximum)) {
    causes.push(invalidValue(path, shown(value), `${path} in body should be less than ${high ? '' : 'or equal to '}${String(maximum)}`));
  }
  if (typeof multipleOf === 'number' && value % multipleOf !== 0)
    causes.push(invalidValue(path, shown(value), `${path} in body should be a multiple of ${String(multipleOf)}`));
}

function checkArray(value: readonly Json[], schema: JsonObject, path: string, causes: FieldCause[]): void {
  const { maxItems, minItems } = schema;
  if (typeof maxItems === 'number' && value.length > maxItems) {
    causes.push({
      field: path,
      reason: 'FieldValueTooMany',
      message: `Too many: ${String(value.length)}: must have at most ${String(maxItems)} items`,
    });
    return;
  }
  if (typeof minItems === 'number' && value.length < minItems)
    causes.push(invalidValue(path, String(value.length), `${path} in body should have at least ${String(minItems)} items`));
  const items = itemSchema(schema);
  if (items !== undefined) value.forEach((item, index) => check(item, items, `${path}[${String(index)}]`, causes));
  const shape = listShape(schema);
  if (shape.type === 'atomic') return;
  const seen = new Set<string>();
  value.forEach((item, index) => {
    const identity = shape.type === 'map' ? itemKey(item, shape.keys, items) : JSON.stringify(item);
    if (seen.has(identity))
      causes.push({
        field: `${path}[${String(index)}]`,
        reason: 'FieldValueDuplicate',
        message: `Duplicate value: ${identity}`,
      });
    seen.add(identity);
  });
}

function checkObject(value: JsonObject, schema: JsonObject, path: string, causes: FieldCause[]): void {
  for (const name of listAt(schema, 'required').filter(isString)) {
    if (value[name] === undefined) causes.push({ field: member(path, name), reason: 'FieldValueRequired', message: 'Required value' });
  }
  const count = Object.keys(value).length;
  const { maxProperties, minProperties } = schema;
  if (typeof maxProperties === 'number' && count > maxProperties) {
    causes.push({
      field: path,
      reason: 'FieldValueTooMany',
      message: `Too many: ${String(count)}: must have at most ${String(maxProperties)} items`,
    });
  }
  if (typeof minProperties === 'number' && count < minProperties)
    causes.push(invalidValue(path, String(count), `${path} in body should have at least ${String(minProperties)} properties`));
  for (const [name, content] of Object.entries(value)) {
    const known = memberSchema(schema, name);
    if (known !== undefined && content !== undefined) check(content, known, member(path, name), causes);
  }
}

function checkCombinations(value: Json, schema: JsonObject, path: string, causes: FieldCause[]): void {
  const { allOf, anyOf, oneOf, not: excluded } = schema;
  if (allOf === undefined && anyOf === undefined && oneOf === undefined && excluded === undefined) return;
  const passes = (one: Json): boolean => isObject(one) && causesOf(value, one, path).length === 0;
  for (const one of listAt(schema, 'allOf')) if (isObject(one)) check(value, one, path, causes);
  const any = listAt(schema, 'anyOf');
  if (any.length > 0 && !any.some(passes)) causes.push(invalidValue(path, '""', `${quoted(path)} must validate at least one schema (anyOf)`));
  const one = listAt(schema, 'oneOf');
  if (one.length > 0 && one.filter(passes).length !== 1) {
    const found = one.filter(passes).length;
    causes.push(
      invalidValue(
        path,
        '""',
        `${quoted(path)} must validate one and only one schema (oneOf). ${found === 0 ? 'Found none valid' : `Found ${String(found)} valid alternatives`}`,
      ),
    );
  }
  const not = at(schema, 'not');
  if (not !== undefined && passes(not)) causes.push(invalidValue(path, '""', `${quoted(path)} must not validate the schema (not)`));
}

function quoted(path: string): string {
  return `"${path}"`;
}

export function member(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
