import type { Identity } from '../../src/ports/agents.ts';

/** UUIDs that vendors leave in unset firmware; they name no machine. */
const PLACEHOLDERS: ReadonlySet<string> = new Set([
  '03000200040005000006000700080009',
  '12345678123456781234567812345678',
  '00112233445566778899aabbccddeeff',
]);

/** 32 lower-case hexadecimal digits; undefined for what is no UUID or names no machine. */
export function normalUUID(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const digits = text
    .trim()
    .replace(/^urn:uuid:/i, '')
    .replaceAll(/[{}-]/g, '')
    .toLowerCase();
  if (!/^[0-9a-f]{32}$/.test(digits) || /^(0+|f+)$/.test(digits) || PLACEHOLDERS.has(digits)) return undefined;
  return digits;
}

/** The bytes of a UUID with those of its first three groups the other way round. */
const SWAPPED = [3, 2, 1, 0, 5, 4, 7, 6];

/** SMBIOS stores the first three groups little-endian; firmware before SMBIOS 2.6 shows them the other way round. Takes and gives 32 digits. */
export function withGroupsSwapped(digits: string): string {
  let swapped = '';
  for (const byte of SWAPPED) swapped += digits.slice(2 * byte, 2 * byte + 2);
  return swapped + digits.slice(2 * SWAPPED.length);
}

/** Do both name one machine, in either byte order? Of 32 digits each. */
export function areSameUUID(one: string, other: string): boolean {
  return one === other || withGroupsSwapped(one) === other;
}

/** Why a device that shows a UUID can not be compared with what is known of the node; `undefined`: it can. */
export function unknownMachine(identity: Identity | undefined): string | undefined {
  if (identity?.systemUUID === undefined || normalUUID(identity.systemUUID) !== undefined) return undefined;
  return identity.systemUUID === '' ? 'the Node tells no system UUID' : `its system UUID ${identity.systemUUID} names no machine`;
}
