import type { JsonSchema } from './schema.ts';

export interface Violation {
  /** `journal[0].message`; empty for the value itself. */
  path: string;
  message: string;
}

/** What the API server would refuse (or drop: unknown fields) in `value`. Undefined members count as absent, as in JSON. */
export function violations(value: unknown, schema: JsonSchema, path = ''): Violation[] {
  const fail = (message: string): Violation[] => [{ path, message }];
  if (schema.enum?.includes(value as never) === false) return fail(`must be one of ${schema.enum.join(', ')}`);
  switch (schema.type) {
    case 'string':
      return typeof value === 'string' ? textFaults(value, schema).flatMap(fail) : fail('must be a string');
    case 'integer':
      if (!Number.isInteger(value)) return fail('must be an integer');
      return (value as number) < (schema.minimum ?? -Infinity) ? fail(`must be at least ${schema.minimum}`) : [];
    case 'boolean':
      return typeof value === 'boolean' ? [] : fail('must be true or false');
    case 'array':
      return Array.isArray(value) ? listFaults(value, schema, path) : fail('must be a list');
    case 'object':
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail('must be an object');
      return objectFaults(value as Record<string, unknown>, schema, path);
  }
}

function textFaults(value: string, schema: JsonSchema): string[] {
  const faults: string[] = [];
  if (value.length > (schema.maxLength ?? Infinity)) faults.push(`is longer than ${schema.maxLength}`);
  if (value.length < (schema.minLength ?? 0)) faults.push(`is shorter than ${schema.minLength}`);
  if (schema.pattern !== undefined && !new RegExp(schema.pattern).test(value)) faults.push(`does not match ${schema.pattern}`);
  if (schema.format === 'date-time' && Number.isNaN(Date.parse(value))) faults.push('is no time');
  return faults;
}

function listFaults(value: readonly unknown[], schema: JsonSchema, path: string): Violation[] {
  const { items, maxItems = Infinity } = schema;
  const long = value.length > maxItems ? [{ path, message: `has more than ${maxItems} items` }] : [];
  return [...long, ...(items === undefined ? [] : value.flatMap((item, index) => violations(item, items, `${path}[${index}]`)))];
}

function objectFaults(value: Readonly<Record<string, unknown>>, schema: JsonSchema, path: string): Violation[] {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const present = Object.entries(value).filter(([, member]) => member !== undefined);
  const missing = (schema.required ?? []).filter((name) => value[name] === undefined).map((name) => ({ path: at(name), message: 'is required' }));
  const members = present.flatMap(([name, member]) => {
    const field = schema.properties?.[name] ?? schema.additionalProperties;
    return field === undefined ? [{ path: at(name), message: 'is unknown' }] : violations(member, field, at(name));
  });
  const matching = schema.oneOf?.filter(({ required }) => required.every((name) => value[name] !== undefined)).length;
  const choice = matching === undefined || matching === 1 ? [] : [{ path, message: 'must validate one and only one schema (oneOf)' }];
  return [...missing, ...members, ...choice];
}
