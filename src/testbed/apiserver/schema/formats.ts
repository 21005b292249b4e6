const DATE_TIME = /^\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])[Tt ]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[-+]([01]\d|2[0-3]):[0-5]\d)$/;
const CHECKS: Readonly<Record<string, RegExp>> = {
  'date-time': DATE_TIME,
  date: /^\d{4}-(0\d|1[0-2])-([0-2]\d|3[01])$/,
  uuid: /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i,
  duration: /^-?(\d+(\.\d+)?\s*(ns|us|µs|ms|s|m|h|d|w)[a-z]*\s*)+$/i,
  byte: /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
  ipv4: /^(\d{1,3}\.){3}\d{1,3}$/,
  email: /^[^@\s]+@[^@\s]+$/,
};

/** Does a text have a string format that a server checks? Unknown formats admit everything. */
export function formatMatches(format: string, text: string): boolean {
  return CHECKS[format]?.test(text) ?? true;
}
