/** A login is some keys; a certificate of several kilobytes may be among them. */
export const SECRET_BYTES_MAX = 65_536;
export const SECRET_KEYS_MAX = 64;
export const SECRET_KEY = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,252}$/;

/** Lines `key=value`; blank ones and those that begin with `#` mean nothing. A value is all behind the first `=`. Undefined: a line is none, by its number. */
export function readSecretText(text: string): { keys: Record<string, string> } | { problem: string } {
  const keys: Record<string, string> = {};
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.replace(/\r$/, '');
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    const at = line.indexOf('=');
    const key = line.slice(0, Math.max(0, at)).trim();
    if (!SECRET_KEY.test(key)) return { problem: `line ${index + 1} is no key=value` };
    if (Object.hasOwn(keys, key)) return { problem: `line ${index + 1} has a key for the second time` };
    if (Object.keys(keys).length >= SECRET_KEYS_MAX) return { problem: `it has more than ${SECRET_KEYS_MAX} keys` };
    Object.defineProperty(keys, key, { value: line.slice(at + 1), enumerable: true });
  }
  return Object.keys(keys).length === 0 ? { problem: 'it has no line key=value' } : { keys };
}
