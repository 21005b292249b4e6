import { describe, expect, it } from 'vitest';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../manifests/definitions.ts';
import { REMEDIATION_DEFINITIONS } from '../../manifests/remediation-definitions.ts';
import { schemaGaps } from './schema-gaps.ts';
import type { SchemaPart } from './schema-gaps.ts';

const text: SchemaPart = { type: 'string', maxLength: 10 };
const object = (properties: Record<string, SchemaPart>, more: SchemaPart = {}): SchemaPart => ({ type: 'object', properties, ...more });

const DEFINITIONS = [...CUSTOM_RESOURCE_DEFINITIONS, ...REMEDIATION_DEFINITIONS].map(({ metadata, spec }) => {
  const { spec: ofSpec, status } = spec.versions[0]?.schema.openAPIV3Schema.properties as Record<string, SchemaPart>;
  return [metadata.name, object({ ...(ofSpec && { spec: ofSpec }), ...(status && { status }) })] as const;
});

describe('the gaps between what we write and what a server takes', () => {
  it.each<[what: string, ours: SchemaPart, served: SchemaPart, gaps: string[]]>([
    ['a field that is dropped', object({ a: text, b: text }), object({ a: text }), ['it drops b']],
    ['a field that is kept though nobody knows it', object({ a: text }), object({}, { 'x-kubernetes-preserve-unknown-fields': true }), []],
    ['a field that others have beside', object({}), object({ a: text }), []],
    ['a field that is demanded', object({ a: text }), object({ a: text }, { required: ['a'] }), ['it demands a']],
    ['another type', text, { type: 'boolean' }, ['it wants boolean as , not string']],
    ['an enum value', { type: 'string', enum: ['on', 'x'] }, { type: 'string', enum: ['true', 'x'] }, ['it refuses "on" as ']],
    ['an enum value more', { type: 'string', enum: ['on'] }, { type: 'string', enum: ['on', 'off'] }, []],
    ['an enum for free text', text, { type: 'string', enum: ['a'] }, ['it refuses  unless it is one of "a"']],
    ['a shorter text', text, { type: 'string', maxLength: 9 }, ['it wants maxLength 9 of ']],
    ['a longer text', text, { type: 'string', maxLength: 11 }, []],
    ['a text without end', { type: 'string' }, text, ['it wants maxLength 10 of ']],
    ['a higher least number', { type: 'integer', minimum: 0 }, { type: 'integer', minimum: 1 }, ['it wants minimum 1 of ']],
    ['a pattern', text, { ...text, pattern: '^a' }, ['it wants pattern ^a of ']],
    ['shorter lists', { type: 'array', items: text, maxItems: 2 }, { type: 'array', items: text, maxItems: 1 }, ['it wants maxItems 1 of ']],
    ['items', { type: 'array', items: object({ a: text }) }, { type: 'array', items: object({}) }, ['it drops [].a']],
    ['a set', { type: 'array', items: text }, { type: 'array', items: text, 'x-kubernetes-list-type': 'set' }, ['it merges  as set']],
    ['values of a map', { type: 'object', additionalProperties: text }, { type: 'object' }, ['it drops .*']],
    ['another choice of members', object({ a: text }), object({ a: text }, { oneOf: [{ required: ['a'] }] }), ['it has another oneOf for ']],
  ])('%s', (_what, ours, served, gaps) => {
    expect(schemaGaps(ours, served)).toEqual(gaps);
  });

  it.each(DEFINITIONS)('%s: none in what is shipped', (_name, schema) => {
    expect(schemaGaps(schema, structuredClone(schema))).toEqual([]);
  });

  it.each(DEFINITIONS)('%s: one for every field, and for every enum value, that is missing', (_name, schema) => {
    let tried = 0;
    for (const mutilated of mutilations(schema)) {
      tried += 1;
      expect(schemaGaps(schema, mutilated.schema), mutilated.what).not.toEqual([]);
    }
    expect(tried).toBeGreaterThan(0);
  });
});

/** The schema with one thing taken out of it, again and again until each was. */
function* mutilations(schema: SchemaPart): Generator<{ what: string; schema: SchemaPart }> {
  for (const [path, part] of partsOf(schema, [])) {
    const at = (copy: unknown): Record<string, unknown> =>
      path.reduce((value, key) => (value as Record<string, Record<string, unknown>>)[key] as never, copy) as never;
    for (const name of part['x-kubernetes-preserve-unknown-fields'] === true ? [] : Object.keys(part.properties ?? {})) {
      const copy = structuredClone(schema);
      Reflect.deleteProperty(at(copy)['properties'] as object, name);
      yield { what: `${path.join('.')} without ${name}`, schema: copy };
    }
    for (const value of part.enum ?? []) {
      const copy = structuredClone(schema);
      at(copy)['enum'] = part.enum?.filter((other) => other !== value);
      yield { what: `${path.join('.')} without ${String(value)}`, schema: copy };
    }
  }
}

function* partsOf(part: SchemaPart, path: readonly string[]): Generator<readonly [readonly string[], SchemaPart]> {
  yield [path, part];
  for (const [name, member] of Object.entries(part.properties ?? {})) yield* partsOf(member, [...path, 'properties', name]);
  if (part.items !== undefined) yield* partsOf(part.items, [...path, 'items']);
  if (typeof part.additionalProperties === 'object') yield* partsOf(part.additionalProperties, [...path, 'additionalProperties']);
}
