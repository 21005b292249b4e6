import { LOG_FIELDS } from './log-fields.ts';

/** Fields by these names hold secrets wherever they stand. */
export const SECRET_NAME =
  /pass(word|phrase|wd)?$|passwd|pwd|secret|token|authorization|cookie|credential|community|(private|api|auth|priv|client|access).?key/i;
/** Names of things that are called after a secret, not the secret itself. */
const HARMLESS_NAME = /(name|ref|namespace|expiry|ms)$/i;
const REDACTED = '[redacted]';
const DEPTH_MAX = 6;
const ENTRIES_MAX = 100;
const TEXT_MAX = 4096;

/** What a text may carry without being called a secret: header values, URLs with a password, PEM keys. */
const SECRET_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/\b(Bearer|Basic|Digest)\s+[A-Za-z0-9+/=._~-]{6,}/gi, `$1 ${REDACTED}`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^/\s:@]*:[^/\s@]+@/gi, `$1${REDACTED}@`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*/g, REDACTED],
  [/\b(password|passwd|token|secret|community)(["']?\s*[=:]\s*["']?)[^\s"',;&}]+/gi, `$1$2${REDACTED}`],
];

/** A text without the secrets that can be told by their shape; cut to a bound. */
export function redactedText(text: string): string {
  const cut = text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}…`;
  return SECRET_TEXTS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), cut);
}

/** Log fields as they may be written: catalogue first, the others under `other`, secrets removed, size and depth bounded. */
export function redactedFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  const other: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) {
      (Object.hasOwn(LOG_FIELDS, name) ? known : other)[name] = redactedValue(name, value, 0, new Set());
    }
  }
  return Object.keys(other).length === 0 ? known : { ...known, other };
}

function redactedValue(name: string, value: unknown, depth: number, above: Set<object>): unknown {
  if (SECRET_NAME.test(name) && !HARMLESS_NAME.test(name) && typeof value !== 'boolean') {
    return REDACTED;
  }
  if (typeof value === 'string') {
    return redactedText(value);
  }
  if (typeof value === 'bigint' || typeof value === 'symbol' || typeof value === 'function') {
    return String(value);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (depth >= DEPTH_MAX || above.has(value)) {
    return '[deeper]';
  }
  above.add(value);
  const copy = value instanceof Error ? errorFields(value, depth, above) : plainCopy(value, depth, above);
  above.delete(value);
  return copy;
}

function plainCopy(value: object, depth: number, above: Set<object>): unknown {
  if (Array.isArray(value)) {
    return value.slice(0, ENTRIES_MAX).map((item: unknown) => redactedValue('', item, depth + 1, above));
  }
  const entries = Object.entries(value).slice(0, ENTRIES_MAX);
  return Object.fromEntries(entries.map(([name, inner]: [string, unknown]) => [name, redactedValue(name, inner, depth + 1, above)]));
}

/** An error with its own fields (status, reason, kind, facts), its cause and its stack. */
function errorFields(error: Error, depth: number, above: Set<object>): Record<string, unknown> {
  const { name, message, stack, cause } = error;
  const own = Object.fromEntries(Object.entries(error).filter(([field]) => !['name', 'message', 'stack', 'cause'].includes(field)));
  return {
    name,
    message: redactedText(message),
    ...(plainCopy(own, depth, above) as Record<string, unknown>),
    ...(cause === undefined ? {} : { cause: redactedValue('cause', cause, depth + 1, above) }),
    ...(stack === undefined ? {} : { stack: redactedText(stack) }),
  };
}
