/** UUIDs that vendors leave in unset firmware; they name no machine. */
const PLACEHOLDERS = new Set(['03000200040005000006000700080009', '12345678123456781234567812345678', '00112233445566778899aabbccddeeff']);

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

/** SMBIOS stores the first three groups little-endian; firmware before SMBIOS 2.6 shows them the other way round. */
function swapped(digits: string): string {
  const bytes = digits.match(/../g) ?? [];
  return [...bytes.slice(0, 4).reverse(), ...bytes.slice(4, 6).reverse(), ...bytes.slice(6, 8).reverse(), ...bytes.slice(8)].join('');
}

/** Whether two UUIDs name one machine: same digits in either byte order. */
export function isSameMachine(shown: string, recorded: string): boolean {
  return shown === recorded || swapped(shown) === recorded;
}

export type IdentityCheck = { kind: 'verified' } | { kind: 'unverified'; why: string } | { kind: 'other'; shown: string; recorded: string };

/** Compares what the device shows with what was recorded of the node while it was healthy (P10). */
export function checkIdentity(shown: unknown, recorded: string | undefined): IdentityCheck {
  const expected = normalUUID(recorded);
  if (expected === undefined)
    return {
      kind: 'unverified',
      why: recorded === undefined ? 'no system UUID is recorded of the node' : 'the recorded system UUID names no machine',
    };
  const digits = normalUUID(shown);
  if (digits === undefined) return { kind: 'unverified', why: 'the device shows no usable UUID' };
  if (isSameMachine(digits, expected)) return { kind: 'verified' };
  return { kind: 'other', shown: String(shown), recorded: recorded ?? '' };
}
