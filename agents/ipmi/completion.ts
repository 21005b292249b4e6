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

export function describeCompletion(completion: number): string {
  return `${COMPLETIONS[completion] ?? 'completion code'} (${hexadecimal(completion)})`;
}

export function isRefusal(completion: number): boolean {
  return REFUSALS.has(completion);
}

function hexadecimal(byte: number): string {
  return `0x${byte.toString(16).padStart(2, '0')}`;
}
