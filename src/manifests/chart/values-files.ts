import { Document, isMap, Pair, Scalar } from 'yaml';
import { CHART_VALUES, isGroup } from './values.ts';
import type { Group, Value, ValueSchema } from './values.ts';

type Values = Readonly<Record<string, Value | Group>>;

function initialOf(values: Values): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, isGroup(value) ? initialOf(value.values) : value.initial]));
}

function schemaOf(values: Values, description?: string): ValueSchema {
  const properties = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      isGroup(value) ? schemaOf(value.values, value.description) : { ...value.schema, description: value.description },
    ]),
  );
  return { type: 'object', ...(description === undefined ? {} : { description }), properties, additionalProperties: false };
}

function explain(map: unknown, values: Values): void {
  if (!isMap(map)) throw new Error('values of the chart are a map');
  for (const pair of map.items) {
    if (!(pair instanceof Pair) || !(pair.key instanceof Scalar)) throw new Error('a value of the chart has a name');
    const value = values[String(pair.key.value)];
    if (value === undefined) throw new Error(`no value of the chart is called ${String(pair.key.value)}`);
    pair.key.commentBefore = ` ${value.description}`;
    if (isGroup(value)) explain(pair.value, value.values);
  }
}

/** Text of values.yaml: each value as it is unless somebody says otherwise, with what it is for. */
export function valuesText(): string {
  const document = new Document(initialOf(CHART_VALUES), { aliasDuplicateObjects: false, compat: 'yaml-1.1' });
  explain(document.contents, CHART_VALUES);
  return document.toString({ lineWidth: 0 });
}

/** Text of values.schema.json, by which Helm refuses what the chart does not know. */
export function valuesSchemaText(): string {
  return `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...schemaOf(CHART_VALUES) }, undefined, 2)}\n`;
}
