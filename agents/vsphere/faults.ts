import type { AgentErrorKind } from '../../src/ports/agents.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import { NoSoap, SoapFault } from './soap.ts';
import { childOf, childrenOf, textOf } from './vim-xml.ts';

/** Faults that say more than no; all others are a refusal of a set, and an unreadable machine of a read. */
const KINDS: Readonly<Record<string, AgentErrorKind>> = {
  InvalidLogin: 'Refused',
  NoPermission: 'Refused',
  PasswordExpired: 'Refused',
  RestrictedVersion: 'Refused',
  LicenseExpired: 'Refused',
  ManagedObjectNotFound: 'Misconfigured',
  NotAuthenticated: 'Unreachable',
  HostNotConnected: 'Unreachable',
  HostNotReachable: 'Unreachable',
  HostCommunication: 'Unreachable',
};

/** What was said, with what a person can do about it. */
const ADVICE: Readonly<Record<string, string>> = {
  InvalidLogin: 'check username and password',
  PasswordExpired: 'give the user a new password',
  RestrictedVersion: 'the licence of a free ESXi host lets nobody switch a machine by its API',
  ManagedObjectNotFound: 'what is not there is not off',
  NotAuthenticated: 'the session was ended twice',
};

/** As the contract of agents names it. */
export function agentError(call: Call<CallTarget>, error: unknown, otherwise: AgentErrorKind): unknown {
  if (error instanceof NoSoap) return call.error(error.kind, error.message);
  if (!(error instanceof SoapFault)) return error;
  return call.error(kindOf(error) ?? otherwise, wordsOf(error));
}

function kindOf({ fault }: SoapFault): AgentErrorKind | undefined {
  return Object.hasOwn(KINDS, fault) ? KINDS[fault] : undefined;
}

export function wordsOf(error: SoapFault): string {
  if (error.fault === 'NoPermission') return `${error.message} (the user lacks ${missingPrivileges(error)})`;
  const advice = Object.hasOwn(ADVICE, error.fault) ? ADVICE[error.fault] : undefined;
  return advice === undefined ? error.message : `${error.message} (${advice})`;
}

/** `privilegeId` until vSphere 7, `missingPrivileges` since 7.0 U3. */
function missingPrivileges({ detail }: SoapFault): string {
  const named = childrenOf(detail, 'missingPrivileges').flatMap((each) => childrenOf(each, 'privilegeIds').map(({ text }) => text.trim()));
  const privileges = [textOf(detail, 'privilegeId'), ...named].filter((each) => each !== undefined && each !== '');
  const object = childOf(detail, 'object')?.text.trim();
  const on = object === undefined || object === '' ? '' : ` on ${object}`;
  return `${privileges.length === 0 ? 'a privilege that is not named' : [...new Set(privileges)].join(', ')}${on}`;
}
