const NAME_MAX = 63;
const DOMAIN_MAX = 253;
const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function isName(text: string): boolean {
  return text.length <= NAME_MAX && NAME.test(text);
}

/** Why no label can have this key; undefined: one can. */
export function keyFault(key: string): string | undefined {
  const parts = key.split('/');
  const [name = '', domain] = parts.reverse();
  const isDomain = domain === undefined || (domain.length <= DOMAIN_MAX && DOMAIN.test(domain));
  if (parts.length <= 2 && isDomain && isName(name)) return undefined;
  return "a label's key is a name of at most 63 letters, digits, '-', '_' or '.' that begins and ends with a letter or digit, behind an optional domain and '/'";
}

/** The same of a value. */
export function valueFault(value: string): string | undefined {
  if (value === '' || isName(value)) return undefined;
  return "a label's value is empty, or at most 63 letters, digits, '-', '_' or '.' and begins and ends with a letter or digit";
}
