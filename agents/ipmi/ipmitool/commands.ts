import type { Control } from '../line.ts';

// As short as they can be: ipmitool takes each character from its terminal by two calls of the system.

/**
 * Get Chassis Status, as typed at the prompt of `ipmitool shell`, which echoes it word for word. Raw, since `chassis power status` of ipmitool 1.8.19
 * says `Chassis Power is off` for an answer that has no power byte.
 */
export const READ_STATUS = 'raw 0 1';

/** Get System GUID. Raw, since `mc guid` of each version of ipmitool guesses the order of the bytes in its own way. */
export const READ_GUID = 'raw 6 55';

/** What is typed for a Chassis Control, and the words of ipmitool for it. */
export const CONTROL: Readonly<Record<Control, { command: string; words: string }>> = {
  on: { command: 'power on', words: 'Up/On' },
  off: { command: 'power off', words: 'Down/Off' },
  diag: { command: 'power diag', words: 'Diag' },
};

export function rawCommand(netFn: number, command: number, data: readonly number[]): string {
  return ['raw', netFn, command, ...data].join(' ');
}
