import type { JobReport } from '../../src/domain/snapshot.ts';
import type { Account } from './case.ts';
import { expectedOf, MAY_REPEAT, UNREADABLE } from './expectation.ts';
import type { Action, Behaviour, FaultProfile, DeviceFixture } from './fault-profile.ts';

/** Parameters whose value may never be shown, whatever they are called. */
const SECRET_NAME = /passw|passphrase|secret|token|community|key$/u;
/** A shorter secret is found in any text. */
const SECRET_MIN_LENGTH = 4;

/** Everything that is wrong with what an agent did, in sentences; empty when nothing is. */
export function faultsOf(profile: FaultProfile, behaviour: Behaviour, action: Action, fixture: DeviceFixture, account: Account): string[] {
  return [
    ...(action === 'status' ? statusFaults(profile, behaviour, fixture, account) : switchFaults(profile, behaviour, action, account)),
    ...commandFaults(profile, behaviour, action, account),
    ...secretFaults(profile, fixture, account),
    ...leftFaults(account),
  ];
}

function switchFaults(profile: FaultProfile, behaviour: Behaviour, action: Action, account: Account): string[] {
  const { reports } = account;
  const failure = reports.find(({ result }) => result !== 'succeeded');
  const faults: string[] = [];
  if (account.flowedAfterOff === true) faults.push(`FALSE SUCCESS: off is reported (${spoken(reports)}), and something flows`);
  if (account.flowsAfterOn === false) faults.push(`false success: on is reported (${spoken(reports)}), and nothing flows`);
  const expected = expectedOf(behaviour, action);
  if (expected === 'succeeds' && failure !== undefined) faults.push(`it had to succeed: ${spoken([failure])}`);
  if (expected === 'fails' && failure === undefined) faults.push(`it had to fail: ${spoken(reports)}`);
  if (failure !== undefined) faults.push(...wordFaults(profile, behaviour, failure.message));
  if (failure?.evidence !== undefined) faults.push('a failure carries evidence');
  if (profile.agent.kind === 'power' && account.flowedAfterOff !== undefined && !reports.some(({ evidence }) => evidence !== undefined))
    faults.push('an off of every plug was reported without evidence');
  return faults;
}

function statusFaults(profile: FaultProfile, behaviour: Behaviour, fixture: DeviceFixture, { looks, flows }: Account): string[] {
  const expected = expectedOf(behaviour, 'status');
  const faults: string[] = [];
  for (const { plug, state, detail } of looks) {
    const isOff = state === 'off' || state === 'closed';
    if (isOff && flows[plug] === true) faults.push(`FALSE SUCCESS: plug "${plug}" reads ${state} (${detail}), and something flows`);
    if (expected === 'fails' && state !== 'unknown') faults.push(`a device that is ${behaviour} reads ${state} (${detail})`);
    if (state === 'unknown' && expected === 'succeeds') faults.push(`the state had to be read: ${detail}`);
    if (state === 'unknown') faults.push(...wordFaults(profile, behaviour, detail));
    if (behaviour === 'state-pending' && state !== 'pending') faults.push(`a pending state reads ${state} (${detail})`);
    if ((state === 'on' || state === 'open') && flows[plug] === false) faults.push(`plug "${plug}" reads ${state} (${detail}), and nothing flows`);
  }
  if (looks.length !== fixture.plugs.length) faults.push('not every plug was read');
  return faults;
}

function wordFaults({ words }: FaultProfile, behaviour: Behaviour, message: string): string[] {
  const wanted = words[behaviour];
  if (wanted === undefined) return [`the fault profile says no words for ${behaviour}; the agent said: ${message}`];
  return wanted.test(message) ? [] : [`the failure does not speak in the device's words ${String(wanted)}: ${message}`];
}

function commandFaults({ agent }: FaultProfile, behaviour: Behaviour, action: Action, { commands, permitted }: Account): string[] {
  const faults: string[] = [];
  const listed = commands.map(({ plug, wanted }) => `${wanted}${plug === '' ? '' : ` of plug ${plug}`}`).join(', ');
  if (UNREADABLE.has(behaviour) && commands.length > 0) faults.push(`nothing could be believed, and the device was told: ${listed}`);
  if (action === 'status' && commands.length > 0) faults.push(`a status switched: ${listed}`);
  if (agent.kind !== 'action' && commands.some(({ wanted }) => wanted === 'other'))
    faults.push(`a reboot is never one command of the device: ${listed}`);
  const unwanted = action === 'off' ? 'on' : action === 'on' ? 'off' : undefined;
  if (commands.some(({ wanted }) => wanted === unwanted)) faults.push(`${action} was asked, and the device was told: ${listed}`);
  if (commands.length > permitted && !MAY_REPEAT.has(behaviour))
    faults.push(`${permitted} set(s) were permitted, and the device was told: ${listed}`);
  return faults;
}

function secretFaults({ agent }: FaultProfile, { parameters }: DeviceFixture, { reports, looks }: Account): string[] {
  const secrets = agent.describe().filter(({ name, secret }) => secret && SECRET_NAME.test(name));
  const said = [...reports.map(({ message }) => message), ...looks.map(({ detail }) => detail)].join('\n');
  return secrets
    .filter(({ name, aliases = [] }) =>
      [name, ...aliases].some((key) => (parameters[key]?.length ?? 0) >= SECRET_MIN_LENGTH && said.includes(parameters[key] ?? '')),
    )
    .map(({ name }) => `what was said holds the value of ${name}`);
}

function leftFaults({ leftOpen }: Account): string[] {
  return Object.entries(leftOpen)
    .filter(([, count]) => count !== 0)
    .map(([what, count]) => `${count} ${what} left open after close`);
}

function spoken(reports: readonly JobReport[]): string {
  return reports.map(({ result, message }) => `${result}: ${message}`).join('; ');
}
