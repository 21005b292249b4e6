import { keyFault, valueFault } from './labels.ts';
import type { Fields } from './read/fields.ts';

export type Labels = Readonly<Record<string, string>>;
export type Selector = (labels: Labels) => boolean;

interface Requirement {
  key: string;
  operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  values: readonly string[];
}

const OPERATORS: Readonly<Record<Requirement['operator'], (value: string | undefined, values: readonly string[]) => boolean>> = {
  In: (value, values) => value !== undefined && values.includes(value),
  NotIn: (value, values) => value === undefined || !values.includes(value),
  Exists: (value) => value !== undefined,
  DoesNotExist: (value) => value === undefined,
};

function isOperator(text: string | undefined): text is Requirement['operator'] {
  return text !== undefined && Object.hasOwn(OPERATORS, text);
}

function requirementOf(item: Fields): Requirement | undefined {
  const key = item.text('key');
  const operator = item.text('operator');
  const values = item.texts('values');
  const fault = key === undefined ? undefined : keyFault(key);
  if (key === undefined) item.required('key');
  else if (fault !== undefined) item.invalid('key', key, fault);
  for (const value of values) {
    const why = valueFault(value);
    if (why !== undefined) item.invalid('values', value, why);
  }
  if (!isOperator(operator)) {
    item.invalid('operator', operator ?? '', `${JSON.stringify(operator ?? '')} is not a valid label selector operator`);
    return undefined;
  }
  const wantsValues = operator === 'In' || operator === 'NotIn';
  if (wantsValues && values.length === 0) item.invalid('values', values, "for 'in', 'notin' operators, values set can't be empty");
  if (!wantsValues && values.length > 0) item.invalid('values', values, 'values set must be empty for exists and does not exist');
  return { key: key ?? '', operator, values };
}

/** A selector that no label can meet selects nobody, and would say so nowhere. */
function readLabels(fields: Fields): Labels {
  const of = fields.child('matchLabels');
  for (const key of of.keys()) {
    const value = of.text(key);
    const [wrongKey, wrongValue] = [keyFault(key), value === undefined ? undefined : valueFault(value)];
    if (wrongKey !== undefined) fields.invalid('matchLabels', key, wrongKey);
    if (wrongValue !== undefined) of.invalid(key, value, wrongValue);
  }
  return of.textRecord();
}

export interface ReadSelector {
  matches: Selector;
  isEmpty: boolean;
  matchLabels: Labels;
}

/** A metav1.LabelSelector; what is wrong with it is told to `fields`. */
export function readSelector(fields: Fields): ReadSelector {
  const matchLabels = readLabels(fields);
  const equal = Object.entries(matchLabels);
  const requirements = fields.list('matchExpressions').flatMap((item) => requirementOf(item) ?? []);
  return {
    matches: (labels) =>
      equal.every(([key, value]) => labels[key] === value) &&
      requirements.every(({ key, operator, values }) => OPERATORS[operator](labels[key], values)),
    isEmpty: equal.length + requirements.length === 0,
    matchLabels,
  };
}
