import type { AgentErrorKind } from '../../../src/ports/agents.ts';
import { otherSuite } from '../native/login-failure.ts';
import type { IpmiSettings } from '../parameters.ts';

export interface LoginError {
  kind: AgentErrorKind;
  answered: string;
}

const NO_SESSION = 'Error: Unable to establish IPMI v2 / RMCP+ session';

/** What ipmitool 1.8.19 says of a session that was not opened, and what a person can do about it. First match wins. */
const CAUSES: readonly { says: RegExp; kind: AgentErrorKind; answered: (settings: IpmiSettings) => string }[] = [
  {
    says: /OEM info dictionary|enterprise-numbers/,
    kind: 'Misconfigured',
    answered: () =>
      'ipmitool lacks its list of enterprise numbers: install /usr/share/misc/enterprise-numbers.txt, which the Debian package ipmitool brings',
  },
  {
    says: /^Address lookup for .* failed/,
    kind: 'Unreachable',
    answered: () => 'the name of the BMC does not resolve to such an address',
  },
  {
    says: /^Error in open session response message : (?:invalid (?:authentication|integrity|confidentiality) algorithm|no matching )/i,
    kind: 'Misconfigured',
    answered: otherSuite,
  },
  {
    says: /^(?:Authentication|Integrity|Confidentiality) algorithm 0x[0-9a-f]+ is not what we requested/i,
    kind: 'Misconfigured',
    answered: otherSuite,
  },
  {
    says: /^Error in open session response message : /,
    kind: 'Unreachable',
    answered: () => 'the BMC opens no session now',
  },
  // A login that was not heard to its end says nothing of user, password or privilege, whatever ipmitool makes of it afterwards.
  {
    says: /no response from RAKP [13] message/,
    kind: 'Unreachable',
    answered: ({ timeoutSeconds }) =>
      `the BMC began a session and stopped answering; if it is slow, raise ipmitool_timeout (now ${timeoutSeconds}); some do not answer an unknown user: check that the BMC knows the user`,
  },
  // Where it was answered, the answer follows in these words.
  {
    says: /^Set Session Privilege Level to \S+ failed$/,
    kind: 'Unreachable',
    answered: (settings) =>
      `the BMC opened a session and did not answer in it; if it is slow, raise ipmitool_timeout (now ${settings.timeoutSeconds}). If it stays so: perhaps ${otherSuite(settings)}, or privlvl=operator`,
  },
  {
    says: /^Set Session Privilege Level to \S+ failed: |(?:unauthorized|invalid) role/i,
    kind: 'Refused',
    answered: ({ privilege }) => `the BMC does not give this user the privilege ${privilege}: set privlvl=operator, or lower`,
  },
  {
    says: /^RAKP [24] message indicates an error : (?:unauthorized name|invalid name length|unauthorized GUID)/i,
    kind: 'Refused',
    answered: () => 'the BMC does not know this user',
  },
];

/**
 * Why there is no session. ipmitool says the same of a dead BMC and of a wrong password; but a dead one is given up only after the last
 * repetition, `elapsedMs` tells them apart. Too slow a refusal counts as a dead BMC, never the other way round.
 */
export function loginError(lines: readonly string[], settings: IpmiSettings, elapsedMs: number): LoginError {
  for (const { says, kind, answered } of CAUSES) {
    if (lines.some((line) => says.test(line))) return { kind, answered: answered(settings) };
  }
  const isAtOnce = elapsedMs < settings.timeoutSeconds * 900;
  if (isAtOnce && lines.filter((line) => line !== '').every((line) => line === NO_SESSION) && lines.includes(NO_SESSION)) {
    const { cipher, privilege } = settings;
    return {
      kind: 'Refused',
      answered: `the BMC refused the session at once (user, password or Kg wrong, or ${privilege} or cipher suite ${cipher} not allowed; IPMI does not say which)`,
    };
  }
  return { kind: 'Unreachable', answered: 'no session with the BMC' };
}
