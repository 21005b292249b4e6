import { decode, encode, MAC_BYTES } from './datagram.ts';
import type { Datagram } from './datagram.ts';

/** HMAC-SHA256 (RFC 2104) under the key of one pair of daemons. */
export type Mac = (bytes: Uint8Array) => Uint8Array;

export function seal(datagram: Datagram, mac: Mac): Uint8Array {
  const body = encode(datagram);
  const sealed = new Uint8Array(body.length + MAC_BYTES);
  sealed.set(body);
  sealed.set(mac(body), body.length);
  return sealed;
}

/**
 * What was sealed, and with whose key. `keysOf` names the keys under which a datagram of this sender may be sealed, the current one first; none: the sender is
 * not known. Whoever does not hold the key can say nothing in this sender's name.
 */
export function open(
  bytes: Uint8Array,
  keysOf: (claimed: Datagram) => readonly Mac[],
): { datagram: Datagram; mac: Mac } | { problem: 'malformed' | 'unknown sender' | 'forged'; claimed?: Datagram } {
  const claimed = decode(bytes);
  if (claimed === undefined) return { problem: 'malformed' };
  const keys = keysOf(claimed);
  if (keys.length === 0) return { problem: 'unknown sender', claimed };
  const body = bytes.subarray(0, bytes.length - MAC_BYTES);
  const shown = bytes.subarray(bytes.length - MAC_BYTES);
  const mac = keys.find((key) => isSame(key(body), shown));
  return mac === undefined ? { problem: 'forged', claimed } : { datagram: claimed, mac };
}

/** In the same time wherever they differ. */
function isSame(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let index = 0; index < a.length; index += 1) difference |= (a[index] ?? 0) ^ (b[index] ?? 0);
  return difference === 0;
}
