import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

import type { IpmiSettings } from '../parameters.ts';

const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** A request is sent three times in all; a BMC that is silent costs three timeouts instead of ipmitool's twenty seconds. */
const RETRIES = 2;

/** Where ipmitool is, or undefined where it is not installed. */
export function findIpmitool(path: string): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, 'ipmitool'))
    .find((file) => isExecutable(file));
}

export function searchPath(): string {
  return process.env['PATH'] ?? DEFAULT_PATH;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}

/** The command line of a kept shell. Passwords and keys are typed at its prompts: `ps` shows this to everybody. */
export function shellParameters(settings: IpmiSettings): string[] {
  return [
    ...['-I', 'lanplus'],
    ...['-H', settings.host],
    ...['-p', String(settings.port)],
    ...['-U', settings.username],
    ...['-C', settings.cipher],
    ...['-L', settings.privilege.toUpperCase()],
    ...['-N', String(settings.timeoutSeconds)],
    ...['-R', String(RETRIES)],
    ...(settings.family === undefined ? [] : [`-${settings.family}`]),
    ...(settings.kg === undefined ? [] : ['-Y']),
    'shell',
  ];
}

/** All that the child sees of our environment: nothing of ours, and no file of anybody's that could change the line editor. */
export function shellEnvironment(path: string): Readonly<Record<string, string>> {
  return { PATH: path, LANG: 'C', LC_ALL: 'C', HOME: '/nonexistent', INPUTRC: '/dev/null' };
}
