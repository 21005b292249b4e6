/** Completion codes that every command may end with (table 5-2). */
const COMPLETIONS: Readonly<Record<number, string>> = {
  0xc0: 'Node busy',
  0xc1: 'Invalid command',
  0xc2: 'Invalid command on LUN',
  0xc3: 'Timeout',
  0xc4: 'Out of space',
  0xc5: 'Reservation cancelled or invalid',
  0xc6: 'Request data truncated',
  0xc7: 'Request data length invalid',
  0xc8: 'Request data field length limit exceeded',
  0xc9: 'Parameter out of range',
  0xca: 'Cannot return number of requested data bytes',
  0xcb: 'Requested sensor, data, or record not found',
  0xcc: 'Invalid data field in request',
  0xcd: 'Command illegal for specified sensor or record type',
  0xce: 'Command response could not be provided',
  0xcf: 'Cannot execute duplicated request',
  0xd0: 'SDR Repository in update mode',
  0xd1: 'Device firmware in update mode',
  0xd2: 'BMC initialization in progress',
  0xd3: 'Destination unavailable',
  0xd4: 'Insufficient privilege level',
  0xd5: 'Command not supported in present state',
  0xd6: 'Cannot execute command, command disabled',
  0xff: 'Unspecified error',
};

/** Those by which a BMC says that it did not and will not do it; busy, timeouts and unspecified errors leave it open. */
const REFUSALS: ReadonlySet<number> = new Set([0xc1, 0xc2, 0xc6, 0xc7, 0xc8, 0xc9, 0xcc, 0xcd, 0xd4, 0xd5, 0xd6]);

export function completionWords(completion: number): string {
  return `${COMPLETIONS[completion] ?? 'completion code'} (${hexadecimal(completion)})`;
}

export function isRefusal(completion: number): boolean {
  return REFUSALS.has(completion);
}

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

export function statusWords(status: number): string {
  return `${STATUSES[status] ?? 'status'} (${hexadecimal(status)})`;
}

function hexadecimal(byte: number): string {
  return `0x${byte.toString(16).padStart(2, '0')}`;
}
