import { PRIVILEGE } from './sessions.ts';

/** Completion codes (table 5-2). */
export const COMPLETION = {
  ok: 0x00,
  invalidCommand: 0xc1,
  tooShort: 0xc7,
  notFound: 0xcb,
  invalidField: 0xcc,
  privilegeTooLow: 0xd4,
  notInThisState: 0xd5,
  unspecified: 0xff,
} as const;

/** Commands that the emulator knows, by network function and number, with the privilege that each needs (appendix G). */
export const COMMANDS = {
  'chassis capabilities': { netFn: 0x00, command: 0x00, privilege: PRIVILEGE.user },
  'chassis status': { netFn: 0x00, command: 0x01, privilege: PRIVILEGE.user },
  'chassis control': { netFn: 0x00, command: 0x02, privilege: PRIVILEGE.operator },
  'device guid': { netFn: 0x06, command: 0x08, privilege: PRIVILEGE.user },
  'device id': { netFn: 0x06, command: 0x01, privilege: PRIVILEGE.user },
  'self test': { netFn: 0x06, command: 0x04, privilege: PRIVILEGE.user },
  'system guid': { netFn: 0x06, command: 0x37, privilege: 0 },
  'authentication capabilities': { netFn: 0x06, command: 0x38, privilege: 0 },
  'session privilege': { netFn: 0x06, command: 0x3b, privilege: PRIVILEGE.user },
  'close session': { netFn: 0x06, command: 0x3c, privilege: PRIVILEGE.callback },
  'cipher suites': { netFn: 0x06, command: 0x54, privilege: 0 },
  'event log info': { netFn: 0x0a, command: 0x40, privilege: PRIVILEGE.user },
  'event log reservation': { netFn: 0x0a, command: 0x42, privilege: PRIVILEGE.user },
  'event log entry': { netFn: 0x0a, command: 0x43, privilege: PRIVILEGE.user },
} as const;

export type CommandName = keyof typeof COMMANDS;

/** Name of a command; `undefined` for all that are not known here. */
export function commandName(netFn: number, command: number): CommandName | undefined {
  return (Object.keys(COMMANDS) as CommandName[]).find((name) => COMMANDS[name].netFn === netFn && COMMANDS[name].command === command);
}

/** What a chassis control does, by its number (table 28-4). `soft` asks the operating system. */
export const CONTROLS: Readonly<Record<number, { name: string; turns: readonly ('on' | 'off')[] }>> = {
  0: { name: 'down', turns: ['off'] },
  1: { name: 'up', turns: ['on'] },
  2: { name: 'cycle', turns: ['off', 'on'] },
  3: { name: 'reset', turns: ['off', 'on'] },
  4: { name: 'diag', turns: [] },
  5: { name: 'soft', turns: ['off'] },
};

/** Device ID 32, IPMI 2.0, a chassis device; no manufacturer (section 20.1). */
export function deviceID(): Buffer {
  return Buffer.from([0x20, 0x01, 0x01, 0x00, 0x02, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00]);
}

/** RMCP+ only, non-null user names, Kg when there is one (table 22-15). */
export function authenticationCapabilities(channel: number, hasKg: boolean): Buffer {
  return Buffer.from([channel, 0x80, (hasKg ? 0x20 : 0) | 0x04, 0x02, 0, 0, 0, 0]);
}

/** Sixteen bytes of the list of suites, chosen by its index (section 22.15). */
export function suiteList(records: Buffer, channel: number, listIndex: number): Buffer {
  const start = (listIndex & 0x3f) * 16;
  return Buffer.concat([Buffer.from([channel]), records.subarray(start, start + 16)]);
}

/** The power bit, restore policy "stays off", no faults (table 28-3). */
export function chassisStatus(state: 'on' | 'off'): Buffer {
  return Buffer.from([state === 'on' ? 0x01 : 0x00, 0x00, 0x00]);
}
