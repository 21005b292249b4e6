import { isObject, type Json } from './json.ts';

type Step =
  | { kind: 'member'; name: string }
  | { kind: 'index'; index: number }
  | { kind: 'all' }
  | { kind: 'filter'; path: readonly Step[]; operator: string; value: Json };

/** A compiled JSONPath of the subset that printer columns use: members, indexes, `[*]`, `[?(@.type=="Ready")]`. Gives every value found. */
export function compileJsonPath(text: string): (value: Json) => Json[] {
  const steps = parse(text.replace(/^\{|\}$/g, '').replace(/^\$/, ''));
  return (value) => walk([value], steps);
}

const STEP =
  /^(?:\.((?:\\.|[-\w$/])+)|\['((?:[^'\\]|\\.)*)'\]|\[(-?\d+)\]|\[\*\]|\.\*|\[\?\(@((?:\.[^=!<>\s]+)?)\s*(==|!=|<=|>=|<|>)?\s*([^)]*)\)\])/;

function parse(text: string): Step[] {
  const steps: Step[] = [];
  let rest = text;
  while (rest !== '') {
    const match = STEP.exec(rest);
    if (match === null) throw new Error(`JSONPath ${JSON.stringify(text)}: cannot read ${JSON.stringify(rest)}`);
    const [whole, dotted, quoted, index, path, operator, value] = match;
    if (path !== undefined) steps.push({ kind: 'filter', path: parse(path), operator: operator ?? 'exists', value: literal(value ?? '') });
    else if (dotted !== undefined || quoted !== undefined) steps.push({ kind: 'member', name: (dotted ?? quoted ?? '').replaceAll('\\.', '.') });
    else if (index !== undefined) steps.push({ kind: 'index', index: Number(index) });
    else steps.push({ kind: 'all' });
    rest = rest.slice(whole.length);
  }
  return steps;
}

function literal(text: string): Json {
  const trimmed = text.trim();
  const quoted = /^(["'])(.*)\1$/.exec(trimmed);
  if (quoted !== null) return quoted[2] ?? '';
  if (trimmed === 'true' || trimmed === 'false') return trimmed === 'true';
  return trimmed !== '' && !Number.isNaN(Number(trimmed)) ? Number(trimmed) : trimmed;
}

function walk(values: readonly Json[], steps: readonly Step[]): Json[] {
  return steps.reduce<Json[]>((found, step) => found.flatMap((value) => take(value, step)), [...values]);
}

function take(value: Json, step: Step): Json[] {
  switch (step.kind) {
    case 'member': {
      const member = isObject(value) ? value[step.name] : undefined;
      return member === undefined ? [] : [member];
    }
    case 'index': {
      const item = Array.isArray(value) ? value.at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case 'all':
      if (Array.isArray(value)) return value;
      return isObject(value) ? Object.values(value).filter((one) => one !== undefined) : [];
    case 'filter':
      return Array.isArray(value) ? value.filter((item) => passes(item, step)) : [];
  }
}

function passes(item: Json, filter: Extract<Step, { kind: 'filter' }>): boolean {
  const [found] = walk([item], filter.path);
  if (filter.operator === 'exists') return found !== undefined;
  if (found === undefined) return false;
  switch (filter.operator) {
    case '==':
      return found === filter.value;
    case '!=':
      return found !== filter.value;
    case '<':
      return Number(found) < Number(filter.value);
    case '<=':
      return Number(found) <= Number(filter.value);
    case '>':
      return Number(found) > Number(filter.value);
    default:
      return Number(found) >= Number(filter.value);
  }
}
