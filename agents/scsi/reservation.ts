import { parseKeys, plainKey } from '../../src/domain/scsi-registration.ts';
import type { PortState } from '../../src/ports/agents.ts';

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

/** Closed: the victim's key is gone, and a reservation is held that keeps out whoever has none. `isRegistered`: the key is there. */
export function portOf(
  device: string,
  keysText: string,
  reservationText: string,
  victim: string,
): { state: PortState; detail: string; isRegistered?: true } {
  const registered = parseKeys(keysText);
  if (registered === undefined) return { state: 'unknown', detail: `${device}: the list of keys is not whole` };
  const { keys } = registered;
  const told = `${device}: ${keys.length} key(s)`;
  if (keys.includes(plainKey(victim))) return { state: 'open', detail: `${told}, the node's among them`, isRegistered: true };
  const reservation = parseReservation(reservationText);
  if (reservation === undefined) return { state: 'unknown', detail: `${told}, a reservation that is not understood` };
  if (reservation === 'none') return { state: 'open', detail: `${told}, without the node's, no reservation: everybody may write` };
  const isShut = SHUTTING.has(reservation.type.toLowerCase());
  const detail = `${told}, reserved by 0x${reservation.key}, ${reservation.type}`;
  if (!isShut) return { state: 'open', detail };
  if (keys.length === 0) return { state: 'unknown', detail: `${detail}, though no key is registered` };
  return { state: 'closed', detail: `${detail}, without the node's key` };
}
