/** A schema of a CustomResourceDefinition, as far as values can be refused or dropped by it. */
export interface SchemaPart {
  type?: string;
  properties?: Readonly<Record<string, SchemaPart>>;
  additionalProperties?: SchemaPart | boolean;
  items?: SchemaPart;
  required?: readonly string[];
  enum?: readonly unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  minProperties?: number;
  maxProperties?: number;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: readonly string[];
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  allOf?: readonly object[];
  anyOf?: readonly object[];
  oneOf?: readonly object[];
  not?: object;
}

const LEAST = ['minimum', 'minLength', 'minItems', 'minProperties'] as const;
const MOST = ['maximum', 'maxLength', 'maxItems', 'maxProperties'] as const;
const COMBINED = ['allOf', 'anyOf', 'oneOf', 'not'] as const;

/**
 * What a server with the schema `served` would drop or refuse of values that `ours` allows, each as `verb PATH ...`; empty: it takes every one of them as it
 * is. Every field, every enum value and every bound is compared, so that no list of examples can be incomplete.
 */
export function schemaGaps(ours: SchemaPart, served: SchemaPart, path = ''): string[] {
  if (ours.type !== served.type && served['x-kubernetes-int-or-string'] !== true)
    return [`it wants ${served.type ?? 'nothing known'} as ${path}, not ${ours.type ?? 'anything'}`];
  return [
    ...valueGaps(ours, served, path),
    ...combinationGaps(ours, served, path),
    ...listGaps(ours, served, path),
    ...memberGaps(ours, served, path),
  ];
}

function valueGaps(ours: SchemaPart, served: SchemaPart, path: string): string[] {
  const gaps: string[] = [];
  const allowed = served.enum;
  if (allowed !== undefined && ours.enum === undefined) gaps.push(`it refuses ${path} unless it is one of ${describeValues(allowed)}`);
  const refused = allowed === undefined ? [] : (ours.enum ?? []).filter((value) => !allowed.includes(value));
  if (refused.length > 0) gaps.push(`it refuses ${describeValues(refused)} as ${path}`);
  for (const key of LEAST) {
    const least = served[key];
    if (least !== undefined && (ours[key] ?? Number.NEGATIVE_INFINITY) < least && ours.enum === undefined)
      gaps.push(`it wants ${key} ${least} of ${path}`);
  }
  for (const key of MOST) {
    const most = served[key];
    if (most !== undefined && (ours[key] ?? Number.POSITIVE_INFINITY) > most && ours.enum === undefined)
      gaps.push(`it wants ${key} ${most} of ${path}`);
  }
  for (const key of ['pattern', 'format'] as const) {
    if (served[key] !== undefined && served[key] !== ours[key] && ours.enum === undefined) gaps.push(`it wants ${key} ${served[key]} of ${path}`);
  }
  return gaps;
}

function combinationGaps(ours: SchemaPart, served: SchemaPart, path: string): string[] {
  const differing = COMBINED.filter((key) => served[key] !== undefined && JSON.stringify(served[key]) !== JSON.stringify(ours[key]));
  return differing.map((key) => `it has another ${key} for ${path}`);
}

function listGaps(ours: SchemaPart, served: SchemaPart, path: string): string[] {
  const gaps = ours.items === undefined ? [] : schemaGaps(ours.items, served.items ?? {}, `${path}[]`);
  const [type = 'atomic', before = 'atomic'] = [served['x-kubernetes-list-type'], ours['x-kubernetes-list-type']];
  const keys = (part: SchemaPart): string => JSON.stringify(part['x-kubernetes-list-map-keys'] ?? []);
  // An atomic list alone takes the same item twice.
  if (type !== 'atomic' && (type !== before || keys(served) !== keys(ours))) gaps.push(`it merges ${path} as ${type}`);
  return gaps;
}

function memberGaps(ours: SchemaPart, served: SchemaPart, path: string): string[] {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const missing = (served.required ?? []).filter((name) => ours.required?.includes(name) !== true).map((name) => `it demands ${at(name)}`);
  const members = Object.entries(ours.properties ?? {}).flatMap(([name, member]) => {
    const known = served.properties?.[name] ?? (typeof served.additionalProperties === 'object' ? served.additionalProperties : undefined);
    if (known !== undefined) return schemaGaps(member, known, at(name));
    return keepsUnknown(served) ? [] : [`it drops ${at(name)}`];
  });
  return [...missing, ...members, ...otherGaps(ours, served, path)];
}

/** Of a map with keys of any name. */
function otherGaps(ours: SchemaPart, served: SchemaPart, path: string): string[] {
  if (typeof ours.additionalProperties !== 'object') return [];
  if (typeof served.additionalProperties === 'object') return schemaGaps(ours.additionalProperties, served.additionalProperties, `${path}.*`);
  return keepsUnknown(served) ? [] : [`it drops ${path}.*`];
}

function keepsUnknown(served: SchemaPart): boolean {
  return served['x-kubernetes-preserve-unknown-fields'] === true || served.additionalProperties === true;
}

function describeValues(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(', ');
}
