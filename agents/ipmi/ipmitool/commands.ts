import type { Control } from '../line.ts';

/**
 * Get Chassis Status, as typed at the prompt of `ipmitool shell`, which echoes it word for word. Raw, since `chassis power status` of ipmitool 1.8.19
 * says `Chassis Power is off` for an answer that has no power byte.
 */
export const READ_STATUS = 'raw 0x00 0x01';

/** Get System GUID. Raw, since `mc guid` of each version of ipmitool guesses the order of the bytes in its own way. */
export const READ_GUID = 'raw 0x06 0x37';

/** What is typed for a Chassis Control, and the words of ipmitool for it. */
export const CONTROL: Readonly<Record<Control, { command: string; words: string }>> = {
  on: { command: 'chassis power on', words: 'Up/On' },
  off: { command: 'chassis power off', words: 'Down/Off' },
  diag: { command: 'chassis power diag', words: 'Diag' },
};

export function rawCommand(netFn: number, command: number, data: readonly number[]): string {
  return ['raw', ...[netFn, command, ...data].map((byte) => `0x${byte.toString(16).padStart(2, '0')}`)].join(' ');
}
