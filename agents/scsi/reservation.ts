import type { PortState } from '../../src/ports/agents.ts';

/** What a device says of who may write to it. Sources: sg3_utils (sg_persist), multipath-tools (mpathpersist), SPC-4. */
export interface Registrations {
  /** Without `0x` and leading zeros, lower case. */
  keys: readonly string[];
}

/** A key as it is compared: without `0x` and leading zeros, lower case. */
export function plainKey(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/^0x/, '')
    .replace(/^0+(?=.)/, '');
}

/** The registered keys, or undefined where the list is not whole: as many as its head says have to follow, and the last line has to end. */
export function parseKeys(text: string): Registrations | undefined {
  if (!text.endsWith('\n')) return undefined;
  const lines = text.split('\n');
  if (lines.some((line) => /\bthere are no registered reservation keys\b/i.test(line))) return { keys: [] };
  const at = lines.findIndex((line) => /\b\d+ registered reservation keys?\b/.test(line));
  const count = Number(/\b(\d+) registered reservation keys?\b/.exec(lines[at] ?? '')?.[1] ?? Number.NaN);
  if (Number.isNaN(count)) return undefined;
  const keys = lines.slice(at + 1).flatMap((line) => /^\s+0x([0-9a-f]{1,16})\s*$/i.exec(line)?.[1] ?? []);
  return keys.length === count ? { keys: keys.map(plainKey) } : undefined;
}

/** Key and type of the reservation, `none`, or undefined for an answer that is not understood. */
export function parseReservation(text: string): { key: string; type: string } | 'none' | undefined {
  if (/\bthere is no reservation held\b/i.test(text)) return 'none';
  const key = /^\s*key ?= ?0x([0-9a-f]{1,16})\s*$/im.exec(text)?.[1];
  const type = /\btype ?[:=] ?([A-Za-z ]+(?:, [A-Za-z ]+)?)\s*$/m.exec(text)?.[1];
  return key === undefined || type === undefined ? undefined : { key: plainKey(key), type: type.trim() };
}

/** Only these keep a host out whose key is not registered. */
const SHUTTING: ReadonlySet<string> = new Set([
  'write exclusive, registrants only',
  'exclusive access, registrants only',
  'write exclusive, all registrants',
  'exclusive access, all registrants',
]);

/** Closed: the victim's key is gone, and a reservation is held that keeps out whoever has none. */
export function portOf(device: string, keysText: string, reservationText: string, victim: string): { state: PortState; detail: string } {
  const registered = parseKeys(keysText);
  if (registered === undefined) return { state: 'unknown', detail: `${device}: the list of keys is not whole` };
  const { keys } = registered;
  const told = `${device}: ${keys.length} key(s)`;
  if (keys.includes(plainKey(victim))) return { state: 'open', detail: `${told}, the node's among them` };
  const reservation = parseReservation(reservationText);
  if (reservation === undefined) return { state: 'unknown', detail: `${told}, a reservation that is not understood` };
  if (reservation === 'none') return { state: 'open', detail: `${told}, no reservation: everybody may write` };
  const isShut = SHUTTING.has(reservation.type.toLowerCase());
  const detail = `${told}, reserved by 0x${reservation.key}, ${reservation.type}`;
  if (!isShut) return { state: 'open', detail };
  if (keys.length === 0) return { state: 'unknown', detail: `${detail}, though no key is registered` };
  return { state: 'closed', detail: `${detail}, without the node's key` };
}
