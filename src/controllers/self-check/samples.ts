import type { SchemaPart } from './schema-gaps.ts';

const TIME = '2026-01-01T00:00:00Z';
const TEXT = 'self-check';

/** Values of a schema that together have every field and every enum value of it, each as large as it must be and no larger. */
export function samplesOf(schema: SchemaPart): unknown[] {
  const wideness = Math.max(1, ...choicesIn(schema));
  return Array.from({ length: wideness }, (_, index) => sampleOf(schema, index));
}

function sampleOf(schema: SchemaPart, index: number): unknown {
  if (schema.enum !== undefined) return schema.enum[index % schema.enum.length];
  switch (schema.type) {
    case 'object':
      return objectOf(schema, index);
    case 'array':
      return schema.items === undefined ? [] : [sampleOf(schema.items, index)];
    case 'integer':
      return Math.max(1, schema.minimum ?? 1);
    case 'boolean':
      return true;
    default:
      return schema.format === 'date-time' ? TIME : TEXT;
  }
}

function objectOf(schema: SchemaPart, index: number): object {
  const members = Object.entries(schema.properties ?? {}).map(([name, member]) => [name, sampleOf(member, index)] as const);
  const other = typeof schema.additionalProperties === 'object' ? [[TEXT, sampleOf(schema.additionalProperties, index)] as const] : [];
  return Object.fromEntries([...members, ...other]);
}

function choicesIn({ enum: values = [], properties = {}, items, additionalProperties }: SchemaPart): number[] {
  const inner = [...Object.values(properties), ...(items === undefined ? [] : [items])];
  if (typeof additionalProperties === 'object') inner.push(additionalProperties);
  return [values.length, ...inner.flatMap(choicesIn)];
}

/** Paths of what was sent and did not come back as it was. */
export function changedIn(sent: unknown, back: unknown, path: string): string[] {
  if (Array.isArray(sent)) return sent.flatMap((item, index) => changedIn(item, Array.isArray(back) ? back[index] : undefined, `${path}[]`));
  if (typeof sent === 'object' && sent !== null) {
    const members = typeof back === 'object' && back !== null ? (back as Readonly<Record<string, unknown>>) : {};
    return Object.entries(sent).flatMap(([name, value]) => changedIn(value, members[name], `${path}.${name}`));
  }
  return sent === back ? [] : [path];
}
