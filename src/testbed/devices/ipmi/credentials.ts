import type { BmcConfiguration } from '../bmc/bmc-configuration.ts';
import type { BmcProtocol } from './protocol.ts';

const USERNAME_CHARACTERS_MAX = 16;
/** What a BMC stores (table 22-33); ipmi_sim 2.0.33 lets nobody in whose password has 20. */
const PASSWORD_CHARACTERS_MAX = { ipmi: 20, 'ipmi-sim': 19 } as const;

/** Throws for names and passwords that this BMC cannot store, or that its configuration file cannot quote. */
export function checkCredentials(
  protocol: Exclude<BmcProtocol, 'redfish'>,
  { username, password }: Pick<BmcConfiguration, 'username' | 'password'>,
): void {
  check(protocol, 'username', username, USERNAME_CHARACTERS_MAX);
  check(protocol, 'password', password, PASSWORD_CHARACTERS_MAX[protocol]);
}

function check(protocol: string, name: string, value: string, charactersMax: number): void {
  if (!/^[\x21-\x7e]+$/.test(value) || /["\\]/.test(value))
    throw new Error(`${name}: a BMC of protocol ${protocol} takes printable ASCII without blanks, quotes and backslashes`);
  if (value.length > charactersMax)
    throw new Error(`${name}: a BMC of protocol ${protocol} takes at most ${charactersMax} characters, this has ${value.length}`);
}
