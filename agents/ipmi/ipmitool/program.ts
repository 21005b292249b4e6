import type { IpmiSettings } from '../parameters.ts';

/** A request is sent three times in all; a BMC that is silent costs three timeouts instead of ipmitool's twenty seconds. */
const RETRIES = 2;

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
