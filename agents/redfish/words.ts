const WORDS_MAX = 300;

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectAt(value: unknown, key: string): JsonObject | undefined {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? found : undefined;
}

export function textAt(value: unknown, key: string): string | undefined {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === 'string' ? found : undefined;
}

export function numberAt(value: unknown, key: string): number | undefined {
  const found = isObject(value) ? value[key] : undefined;
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
}

export function listAt(value: unknown, key: string): readonly unknown[] {
  const found = isObject(value) ? value[key] : undefined;
  return Array.isArray(found) ? found : [];
}

/** A list, or the one member that some devices show without the list around it. */
function membersAt(value: unknown, key: string): readonly unknown[] {
  const found = isObject(value) ? value[key] : undefined;
  return isObject(found) ? [found] : listAt(value, key);
}

/** What a URL leaves as it is: no dots that lead up, no query. Most links are of this kind. */
const PLAIN_PATH = /^(?:\/[\w~-][\w.~-]*)+\/?$/;

/** The path of a link (`{"@odata.id": ...}`), without the host that a device may name itself by; we talk to the configured one only. */
export function linkPath(link: unknown): string | undefined {
  const text = typeof link === 'string' ? link : textAt(link, '@odata.id');
  if (text === undefined || text === '') return undefined;
  if (PLAIN_PATH.test(text)) return text;
  const parsed = URL.parse(text, 'http://device.invalid');
  // A path that does not begin with a slash (mailto:@elsewhere/) would become part of the host when it is put behind it.
  return parsed?.pathname.startsWith('/') === true ? parsed.pathname + parsed.search : undefined;
}

/** One printable line, bounded, with every secret blotted out. */
export function plain(text: string, secrets: readonly string[]): string {
  let result = text;
  for (const secret of secrets) {
    // A secret of a character or two would blot out ordinary words and still be guessed.
    if (secret.length > 2) result = result.replaceAll(secret, '***');
  }
  result = result.replace(/[\p{C}\s]+/gu, ' ').trim();
  return result.length <= WORDS_MAX ? result : `${result.slice(0, WORDS_MAX - 1)}…`;
}

/** What the device itself says of a failure: its extended messages, else its error message. Redfish DSP0266 "Error responses". */
export function deviceMessage(body: unknown, secrets: readonly string[]): string {
  const error = objectAt(body, 'error');
  const infos = ['@Message.ExtendedInfo', 'Messages'].flatMap((key) => [...membersAt(error, key), ...membersAt(body, key)]);
  const messages = new Set<string>();
  for (const info of infos) {
    const text = [textAt(info, 'MessageId'), textAt(info, 'Message')].filter((part) => part !== undefined && part !== '').join(': ');
    if (text !== '') messages.add(text);
  }
  if (messages.size === 0) messages.add(textAt(error, 'message') ?? textAt(error, 'code') ?? '');
  return plain([...messages].join('; '), secrets);
}
