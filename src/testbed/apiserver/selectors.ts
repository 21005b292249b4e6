import { badRequest } from './failure.ts';
import { at, textAt, type ApiObject, type Json } from './json.ts';

/** One requirement of a field selector: `spec.nodeName=a`. */
export interface FieldRequirement {
  field: string;
  equal: boolean;
  value: string;
}

interface LabelRequirement {
  key: string;
  operator: 'in' | 'notin' | 'exists' | '!';
  values: readonly string[];
}

export interface Selector {
  fields: readonly FieldRequirement[];
  matches(object: ApiObject): boolean;
}

const EVERYTHING: Selector = { fields: [], matches: () => true };
const NAME_FIELDS: readonly string[] = ['metadata.name', 'metadata.namespace'];

/** Parses both selectors of a list or watch. `fields` are those that the kind supports besides name and namespace. */
export function parseSelector(labelSelector: string, fieldSelector: string, fields: readonly string[], apiVersion: string, kind: string): Selector {
  if (labelSelector === '' && fieldSelector === '') return EVERYTHING;
  const labels = parseLabels(labelSelector);
  const requirements = parseFields(fieldSelector, fields, apiVersion, kind);
  return {
    fields: requirements,
    matches: (object) =>
      requirements.every((one) => (fieldValue(object, one.field) === one.value) === one.equal) &&
      labels.every((one) => labelMatches(object.metadata.labels, one)),
  };
}

/** The value that a field selector compares: absent is the empty string, booleans are written out. */
export function fieldValue(object: ApiObject, field: string): string {
  if (field === 'metadata.name') return object.metadata.name;
  const value: Json | undefined = at(object, ...field.split('.'));
  if (value === undefined || value === null) return field === 'spec.unschedulable' ? 'false' : '';
  return typeof value === 'object' ? '' : String(value);
}

function parseFields(text: string, supported: readonly string[], apiVersion: string, kind: string): FieldRequirement[] {
  if (text.trim() === '') return [];
  return text.split(',').map((part) => {
    const match = /^\s*([^=!]+?)\s*(==|!=|=)\s*(.*?)\s*$/.exec(part);
    if (match === null) throw badRequest(`invalid field selector: invalid selector: '${text}'; can't understand '${part}'`);
    const [, field = '', operator, value = ''] = match;
    if (!NAME_FIELDS.includes(field) && !supported.includes(field)) {
      throw badRequest(
        `Unable to find "${apiVersion}, Kind=${kind}" that match label selector "", field selector "${text}": field label not supported: ${field}`,
      );
    }
    return { field, equal: operator !== '!=', value };
  });
}

const LABEL_KEY = /^([a-z0-9A-Z]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;

function parseLabels(text: string): LabelRequirement[] {
  if (text.trim() === '') return [];
  return splitOutside(text).map((part) => {
    const requirement = parseLabel(part.trim());
    if (requirement === undefined || !LABEL_KEY.test(requirement.key))
      throw badRequest(`unable to parse requirement: <nil>: Invalid value: "${part.trim()}": found '${part.trim()}', expected a label requirement`);
    return requirement;
  });
}

function parseLabel(part: string): LabelRequirement | undefined {
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(part);
  if (set !== null)
    return { key: set[1] ?? '', operator: set[2] === 'in' ? 'in' : 'notin', values: (set[3] ?? '').split(',').map((value) => value.trim()) };
  const comparison = /^([^\s=!]+)\s*(==|=|!=)\s*(\S*)$/.exec(part);
  if (comparison !== null) return { key: comparison[1] ?? '', operator: comparison[2] === '!=' ? 'notin' : 'in', values: [comparison[3] ?? ''] };
  if (part.startsWith('!')) return { key: part.slice(1).trim(), operator: '!', values: [] };
  return part.includes(' ') ? undefined : { key: part, operator: 'exists', values: [] };
}

function splitOutside(text: string): string[] {
  return text.split(/,(?![^(]*\))/);
}

function labelMatches(labels: Readonly<Record<string, string>> | undefined, requirement: LabelRequirement): boolean {
  const value = labels?.[requirement.key];
  switch (requirement.operator) {
    case 'in':
      return value !== undefined && requirement.values.includes(value);
    case 'notin':
      return value === undefined || !requirement.values.includes(value);
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
  }
}

/** Does a `metav1.LabelSelector` (matchLabels, matchExpressions) select these labels? An empty selector selects everything. */
export function labelSelectorMatches(selector: Json | undefined, labels: Readonly<Record<string, string>>): boolean {
  const matchLabels = at(selector, 'matchLabels');
  for (const [key, value] of Object.entries(typeof matchLabels === 'object' ? (matchLabels ?? {}) : {})) if (labels[key] !== value) return false;
  const expressions = at(selector, 'matchExpressions');
  if (!Array.isArray(expressions)) return true;
  return expressions.every((expression) => {
    const key = textAt(expression, 'key');
    const values = at(expression, 'values');
    const texts = Array.isArray(values) ? values.map(String) : [];
    switch (at(expression, 'operator')) {
      case 'In':
        return labelMatches(labels, { key, operator: 'in', values: texts });
      case 'NotIn':
        return labelMatches(labels, { key, operator: 'notin', values: texts });
      case 'Exists':
        return labelMatches(labels, { key, operator: 'exists', values: [] });
      case 'DoesNotExist':
        return labelMatches(labels, { key, operator: '!', values: [] });
      default:
        return false;
    }
  });
}
