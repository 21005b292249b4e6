/** Status codes of Open Session and RAKP (table 13-15). */
const STATUSES: Readonly<Record<number, string>> = {
  0x01: 'insufficient resources to create a session',
  0x02: 'invalid session ID',
  0x03: 'invalid payload type',
  0x04: 'invalid authentication algorithm',
  0x05: 'invalid integrity algorithm',
  0x06: 'no matching authentication payload',
  0x07: 'no matching integrity payload',
  0x08: 'inactive session ID',
  0x09: 'invalid role',
  0x0a: 'unauthorized role or privilege level requested',
  0x0b: 'insufficient resources to create a session at the requested role',
  0x0c: 'invalid name length',
  0x0d: 'unauthorized name',
  0x0e: 'unauthorized GUID',
  0x0f: 'invalid integrity check value',
  0x10: 'invalid confidentiality algorithm',
  0x11: 'no cipher suite match with proposed security algorithms',
  0x12: 'illegal or unrecognized parameter',
};

export function describeStatus(status: number): string {
  return `${STATUSES[status] ?? 'status'} (${hexadecimal(status)})`;
}

function hexadecimal(byte: number): string {
  return `0x${byte.toString(16).padStart(2, '0')}`;
}
