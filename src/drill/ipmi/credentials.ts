import type { BmcConfiguration } from '../bmc/bmc-configuration.ts';

const USERNAME_BYTES_MAX = 16;
const PASSWORD_BYTES_MAX = 20;

/** Throws for names and passwords that no IPMI BMC can store (tables 22-28 and 22-33), or that its configuration file cannot quote. */
export function checkCredentials({ username, password }: Pick<BmcConfiguration, 'username' | 'password'>): void {
  check('username', username, USERNAME_BYTES_MAX);
  check('password', password, PASSWORD_BYTES_MAX);
}

function check(name: string, value: string, bytesMax: number): void {
  if (!/^[\x20-\x7e]+$/.test(value) || /["\\]/.test(value))
    throw new Error(`${name}: an IPMI BMC takes printable ASCII without quotes and backslashes`);
  if (value.length > bytesMax) throw new Error(`${name}: an IPMI BMC stores at most ${bytesMax} characters, this has ${value.length}`);
}
