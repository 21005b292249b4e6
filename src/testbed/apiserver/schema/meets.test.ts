import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { freeze, type Json, type JsonObject } from '../json.ts';
import { meets } from './meets.ts';
import { causesOf } from './validate.ts';

const SCHEMA = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record(
      { type: fc.constant('string'), minLength: fc.nat(3), maxLength: fc.nat(5), pattern: fc.constantFrom('^a', 'b$'), nullable: fc.boolean() },
      { requiredKeys: ['type'] },
    ),
    fc.record({ type: fc.constant('string'), enum: fc.uniqueArray(fc.constantFrom('a', 'ab', 'b'), { minLength: 1 }) }),
    fc.record({ type: fc.constant('string'), format: fc.constantFrom('date-time', 'date', 'unheard-of') }),
    fc.record(
      {
        type: fc.constantFrom('integer', 'number'),
        minimum: fc.integer({ min: -2, max: 2 }),
        maximum: fc.integer({ min: -2, max: 2 }),
        exclusiveMinimum: fc.boolean(),
        multipleOf: fc.constantFrom(1, 2),
      },
      { requiredKeys: ['type'] },
    ),
    fc.constant<JsonObject>({ type: 'boolean' }),
    fc.constant<JsonObject>({ 'x-kubernetes-int-or-string': true }),
    fc.record(
      {
        type: fc.constant('array'),
        items: tie('schema'),
        minItems: fc.nat(2),
        maxItems: fc.nat(2),
        'x-kubernetes-list-type': fc.constantFrom('set', 'atomic', 'map'),
        'x-kubernetes-list-map-keys': fc.constant<Json>(['a']),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema')),
        additionalProperties: tie('schema'),
        required: fc.subarray(['a', 'b']),
        maxProperties: fc.nat(2),
        minProperties: fc.nat(1),
      },
      { requiredKeys: ['type'] },
    ),
    fc.record(
      {
        allOf: fc.array(tie('schema'), { maxLength: 2 }),
        anyOf: fc.array(tie('schema'), { maxLength: 2 }),
        oneOf: fc.array(tie('schema'), { maxLength: 2 }),
        not: tie('schema'),
      },
      { requiredKeys: [] },
    ),
  ),
})).schema;

const VALUE = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Json>(null, true, 0, 1, -2, 1.5, '', 'a', 'ab', 'b', 'aab', '😀', '2026-01-01', '2026-01-01T00:00:00Z'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value')),
  ),
})).value;

describe('the short cut of validation', () => {
  it('finds a value right exactly where the words for it are none, whatever the schema and the value', () => {
    let right = 0;
    fc.assert(
      fc.property(SCHEMA, VALUE, (schema, value) => {
        const isRight = causesOf(value, schema, 'x').length === 0;
        right += isRight ? 1 : 0;
        expect(meets(value, schema)).toBe(isRight);
      }),
      { numRuns: 3_000, seed: 1 },
    );
    expect(right).toBeGreaterThan(100);
  });

  it('does not take a frozen value that met one schema for one that meets another', () => {
    const value = freeze({ a: 'abc' });
    expect(meets(value, { type: 'object', properties: { a: { type: 'string' } } })).toBe(true);
    expect(meets(value, { type: 'object', properties: { a: { type: 'integer' } } })).toBe(false);
  });

  it('does not remember a value that may still be changed', () => {
    const schema: JsonObject = { type: 'object', properties: { a: { type: 'string' } } };
    const value: JsonObject = { a: 'abc' };
    expect(meets(value, schema)).toBe(true);
    value['a'] = 1;
    expect(meets(value, schema)).toBe(false);
  });

  it('follows a schema that contains itself', () => {
    const schema: JsonObject = { type: 'object', properties: {} };
    schema['properties'] = { child: schema, name: { type: 'string' } };
    expect(meets({ child: { child: { name: 'x' } } }, schema)).toBe(true);
    expect(meets({ child: { child: { name: 1 } } }, schema)).toBe(false);
  });
});
