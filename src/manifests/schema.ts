/** The part of OpenAPI v3 that a structural CRD schema may use. */
export interface JsonSchema {
  type: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  description: string;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema;
  items?: JsonSchema;
  required?: string[];
  enum?: (string | boolean)[];
  default?: unknown;
  nullable?: boolean;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  oneOf?: { required: string[] }[];
  'x-kubernetes-list-type'?: 'atomic' | 'map' | 'set';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-preserve-unknown-fields'?: true;
}

/** A schema of values of type `T`: the compiler holds both together. */
export interface Schema<T> {
  readonly json: JsonSchema;
  /** Never set; carries the type. */
  readonly type?: T;
}

interface OptionalField<T> extends Schema<T> {
  readonly isOptional: true;
}

/** One schema per key of `T`, no more and no fewer, marked optional exactly where `T` is. */
type Fields<T> = { [K in keyof T]-?: object extends Pick<T, K> ? OptionalField<NonNullable<T[K]>> : Schema<T[K]> & { isOptional?: never } };

interface TextBounds {
  maxLength?: number;
  minLength?: number;
  pattern?: string;
}

/** Longest name of a Kubernetes object (RFC 1123 subdomain). */
export const NAME_LENGTH_MAX = 253;
const TEXT_LENGTH_MAX = 1024;
/** Devices, uids, boot IDs and the like: never prose. */
const TOKEN_LENGTH_MAX = 256;

export function optional<T>(schema: Schema<T>): OptionalField<T> {
  return { ...schema, isOptional: true };
}

export function withDefault<T>(schema: Schema<T>, value: T): Schema<T> {
  return { json: { ...schema.json, default: value } };
}

/** Prose for people. */
export function text(description: string, bounds: TextBounds = {}): Schema<string> {
  return { json: { type: 'string', description, maxLength: TEXT_LENGTH_MAX, ...bounds } };
}

/** An identifier. */
export function token(description: string, bounds: TextBounds = {}): Schema<string> {
  return { json: { type: 'string', description, maxLength: TOKEN_LENGTH_MAX, ...bounds } };
}

export function nodeName(description: string): Schema<string> {
  return { json: { type: 'string', description, minLength: 1, maxLength: NAME_LENGTH_MAX, pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$' } };
}

/** RFC 3339. */
export function time(description: string): Schema<string> {
  return { json: { type: 'string', format: 'date-time', description } };
}

export function integer(description: string, minimum = 0): Schema<number> {
  return { json: { type: 'integer', format: 'int64', description, minimum } };
}

export function milliseconds(description: string): Schema<number> {
  return integer(`${description} Milliseconds.`);
}

export function flag(description: string): Schema<boolean> {
  return { json: { type: 'boolean', description } };
}

/** One of the named values; each is explained in the description, and the compiler misses none. */
export function choice<T extends string>(description: string, values: Readonly<Record<T, string>>): Schema<T> {
  const names = Object.keys(values) as T[];
  const explained = names.filter((name) => values[name] !== '').map((name) => `${name === '' ? '(empty)' : name}: ${values[name]}`);
  const full = explained.length === 0 ? description : `${description} ${explained.join('; ')}.`;
  return { json: { type: 'string', description: full, enum: names } };
}

export function object<T extends object>(description: string, fields: Fields<T>): Schema<T> {
  const entries: [string, Schema<unknown> & { isOptional?: boolean }][] = Object.entries(fields);
  const required = entries.filter(([, field]) => field.isOptional !== true).map(([name]) => name);
  return {
    json: {
      type: 'object',
      description,
      // An API server drops an empty map, and every later apply would find a difference.
      ...(entries.length > 0 && { properties: Object.fromEntries(entries.map(([name, field]) => [name, field.json])) }),
      ...(required.length > 0 && { required }),
    },
  };
}

/** What others put there beside is kept, of whatever kind it is. */
export function open<T>(schema: Schema<T>): Schema<T> {
  return { json: { ...schema.json, 'x-kubernetes-preserve-unknown-fields': true } };
}

/** Replaced as a whole by every write. */
export function list<T>(description: string, items: Schema<T>, maxItems: number): Schema<T[]> {
  return { json: { type: 'array', description, items: items.json, maxItems, 'x-kubernetes-list-type': 'atomic' } };
}

/** Merged by `key`. */
export function listByKey<T>(description: string, items: Schema<T>, maxItems: number, key: keyof T & string): Schema<T[]> {
  return {
    json: { type: 'array', description, items: items.json, maxItems, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] },
  };
}

export function texts(description: string, valueLengthMax: number, maxProperties: number): Schema<Record<string, string>> {
  return {
    json: { type: 'object', description, additionalProperties: { type: 'string', description: 'Value.', maxLength: valueLengthMax }, maxProperties },
  };
}
