type Labels = Readonly<Record<string, string>>;

/** One requirement of a Kubernetes label selector. */
export interface Requirement {
  key: string;
  operator: 'in' | 'notin' | 'exists' | 'absent';
  /** Empty for `exists` and `absent`. */
  values: readonly string[];
}

const KEY = /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$/;
const SET = /^(\S+)\s+(in|notin)\s*\(([^()]*)\)$/;
const EQUALITY = /^([^=!\s]+)\s*(==|=|!=)\s*(\S*)$/;

/**
 * The requirements of a selector as kubectl writes it: `a=b`, `a==b`, `a!=b`, `a in (b,c)`, `a notin (b,c)`, `a`, `!a`, joined by commas.
 * Undefined for a text that is none. An empty text selects nothing here: a group of every node has to be meant.
 */
export function parseSelector(text: string): readonly Requirement[] | undefined {
  const terms = text.split(/,(?![^()]*\))/).map((term) => requirement(term.trim()));
  return terms.every((term) => term !== undefined) ? terms : undefined;
}

function requirement(term: string): Requirement | undefined {
  const [, setKey = '', setWord, list = ''] = SET.exec(term) ?? [];
  if (setWord !== undefined)
    return checked({ key: setKey, operator: setWord === 'in' ? 'in' : 'notin', values: list.split(',').map((value) => value.trim()) });
  const [, key = '', sign, value = ''] = EQUALITY.exec(term) ?? [];
  if (sign !== undefined) return checked({ key, operator: sign === '!=' ? 'notin' : 'in', values: [value] });
  if (term.startsWith('!')) return checked({ key: term.slice(1).trim(), operator: 'absent', values: [] });
  return checked({ key: term, operator: 'exists', values: [] });
}

function checked(found: Requirement): Requirement | undefined {
  return KEY.test(found.key) && found.values.every((value) => VALUE.test(value)) ? found : undefined;
}

/** Do all requirements hold? As in Kubernetes, `!=` and `notin` hold for a node without the label. */
export function selects(requirements: readonly Requirement[], labels: Labels): boolean {
  return requirements.every(({ key, operator, values }) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    switch (operator) {
      case 'in':
        return value !== undefined && values.includes(value);
      case 'notin':
        return value === undefined || !values.includes(value);
      case 'exists':
        return value !== undefined;
      case 'absent':
        return value === undefined;
    }
  });
}

/** Labels that the selector is content with, for an example of such a node. */
export function labelsFor(requirements: readonly Requirement[]): Record<string, string> {
  const wanted = requirements.filter(({ operator }) => operator === 'in' || operator === 'exists');
  return Object.fromEntries(wanted.map(({ key, values }) => [key, values[0] ?? '']));
}
