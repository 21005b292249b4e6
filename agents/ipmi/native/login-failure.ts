import type { AgentErrorKind } from '../../../src/ports/agents.ts';
import type { IpmiSettings } from '../parameters.ts';
import { describeStatus } from './words.ts';

export type Step = 'Open Session' | 'RAKP 1' | 'RAKP 3';

export interface LoginFailure {
  kind: AgentErrorKind;
  answered: string;
  /** The BMC does not take what this transport offers; another may do better. */
  isUnfit: boolean;
}

const SUITE_REFUSED: ReadonlySet<number> = new Set([0x04, 0x05, 0x06, 0x07, 0x10, 0x11]);
const PRIVILEGE_REFUSED: ReadonlySet<number> = new Set([0x09, 0x0a]);
const USER_REFUSED: ReadonlySet<number> = new Set([0x0c, 0x0d, 0x0e]);
const PASSWORD_REFUSED = 0x0f;
const UNKNOWN_PARAMETER = 0x12;

/** Why the BMC opens no session, and what a person can do about it. */
export function failureOf(step: Step, status: number, settings: IpmiSettings): LoginFailure {
  const { privilege } = settings;
  const said = `the BMC answered ${step} with: ${describeStatus(status)}`;
  if (SUITE_REFUSED.has(status)) return suiteRefused(settings, said);
  if (status === UNKNOWN_PARAMETER) return { kind: 'Misconfigured', answered: said, isUnfit: true };
  if (PRIVILEGE_REFUSED.has(status)) return { kind: 'Refused', answered: noPrivilege(privilege, said), isUnfit: false };
  if (USER_REFUSED.has(status)) return { kind: 'Refused', answered: `the BMC does not know this user; ${said}`, isUnfit: false };
  if (status === PASSWORD_REFUSED) return { kind: 'Refused', answered: `the password is wrong; ${said}`, isUnfit: false };
  return { kind: 'Unreachable', answered: `the BMC opens no session now; ${said}`, isUnfit: false };
}

/** The same words by whichever transport. */
export function otherSuite({ cipher }: Pick<IpmiSettings, 'cipher'>): string {
  return `the BMC does not take cipher suite ${cipher}: set cipher=${cipher === '17' ? '3' : '17'}`;
}

export function suiteRefused(settings: IpmiSettings, said: string): LoginFailure {
  return { kind: 'Misconfigured', answered: `${otherSuite(settings)}; ${said}`, isUnfit: true };
}

export function noPrivilege(privilege: string, said: string): string {
  return `the BMC does not give this user the privilege ${privilege}: set privlvl=operator, or lower; ${said}`;
}
