import type { Outcome, PowerState, Reading, Target } from '../../src/ports/agents.ts';
import { controlAnswer, guidAnswer, statusAnswer, type StatusAnswer } from './answers.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import { READ_GUID, READ_STATUS, SET } from './commands.ts';
import { checkIdentity } from './identity.ts';
import type { Session } from './session.ts';
import type { Shell } from './shell.ts';

/** The shell is of no use any more; a read may be tried in a fresh one. */
class ShellLost extends Error {
  override readonly name = 'ShellLost';
}

interface Identified {
  identity: Reading['identity'];
  /** Why it is unverified; empty otherwise. */
  why: string;
}

/** The power state that the BMC shows, and whose machine it says it is, over one session. */
export async function readPower(session: Session, call: Call<CallTarget>, target: Target): Promise<Reading<PowerState>> {
  return inShell(session, call, async (shell) => {
    const { identity, why } = await identify(session, shell, call, target, 'once');
    const answer = await status(session, shell, call);
    return {
      state: answer.kind === 'state' ? answer.state : 'unknown',
      detail: why === '' ? answer.detail : `${answer.detail}, identity: ${why}`,
      identity,
    };
  });
}

/** Switches once, in the shell that has just shown the machine's identity. A command that may have left is never sent again. */
export async function setPower(session: Session, call: Call<CallTarget>, target: Target, wanted: 'on' | 'off'): Promise<Outcome> {
  const shell = await inShell(session, call, async (opened) => {
    await identify(session, opened, call, target, 'anew');
    return opened;
  });
  const exchange = await shell.run(SET[wanted], call, () => target.beforeSend());
  if (exchange.kind !== 'answer') {
    session.drop();
    const why = exchange.kind === 'ended' ? call.endedError() : call.error('Unreachable', exchange.why);
    if (!exchange.isSent) throw why;
    return { result: 'unclear', detail: `sent, but ${why.facts.answered}` };
  }
  const answer = controlAnswer(exchange.lines, wanted);
  const detail = shell.quote(exchange.lines);
  if (answer.kind === 'refused') return refusedUnlessReached(session, shell, call, wanted, detail);
  // Silence or an odd answer: what this shell says next could be the rest of it.
  if (answer.kind === 'unclear') session.drop();
  return { result: answer.kind, detail };
}

/** Runs reads, a second time in a fresh shell when the first was lost: a restarted BMC forgets its sessions. */
async function inShell<T>(session: Session, call: Call<CallTarget>, work: (shell: Shell) => Promise<T>): Promise<T> {
  try {
    return await work(await session.shell(call));
  } catch (error) {
    if (!(error instanceof ShellLost)) throw error;
    session.drop();
  }
  try {
    return await work(await session.shell(call));
  } catch (error) {
    if (!(error instanceof ShellLost)) throw error;
    session.drop();
    throw call.error('Unreachable', error.message);
  }
}

async function ask(session: Session, shell: Shell, call: Call<CallTarget>, command: string): Promise<string[]> {
  const exchange = await shell.run(command, call);
  if (exchange.kind === 'answer') return exchange.lines;
  session.drop();
  if (exchange.kind === 'ended') throw call.endedError();
  throw new ShellLost(exchange.why);
}

async function status(session: Session, shell: Shell, call: Call<CallTarget>): Promise<Exclude<StatusAnswer, { kind: 'silence' }>> {
  const lines = await ask(session, shell, call, READ_STATUS);
  const answer = statusAnswer(lines);
  const detail = shell.quote(lines);
  if (answer.kind === 'silence') throw new ShellLost(`the BMC did not answer: ${detail}`);
  if (answer.kind === 'odd') session.drop();
  return { ...answer, detail };
}

/** Another machine than recorded, or another BMC than pinned, is `Misconfigured`. `anew`: asked again although this session has shown it. */
async function identify(session: Session, shell: Shell, call: Call<CallTarget>, target: Target, when: 'once' | 'anew'): Promise<Identified> {
  if (shell.guid === undefined || when === 'anew') {
    const lines = await ask(session, shell, call, READ_GUID);
    const answer = guidAnswer(lines);
    if (answer.kind === 'silence') throw new ShellLost(`the BMC did not answer: ${shell.quote(lines)}`);
    if (answer.kind === 'odd') throw new ShellLost(`no such answer to Get System GUID is known: ${shell.quote(lines)}`);
    shell.guid = answer;
  }
  const { guid } = shell;
  const check = checkIdentity(guid.kind === 'guid' ? guid.hexadecimal : undefined, target.identity.systemUUID, session.settings.pinnedGuid);
  if (check.kind === 'verified') return { identity: 'verified', why: '' };
  if (check.kind === 'unverified') return { identity: 'unverified', why: guid.kind === 'none' ? `${check.why} (${guid.detail})` : check.why };
  const { node } = target.identity;
  const expected = check.expectedBy === 'pinned' ? `guid=${check.expected} is configured` : `node ${node} has system UUID ${check.expected}`;
  const remedy =
    check.expectedBy === 'pinned' ? '' : `; if that is the BMC's own GUID, pin it with guid=${check.shown} and write identity=unverified`;
  throw call.error('Misconfigured', `the BMC shows GUID ${check.shown}, but ${expected}${remedy}`);
}

/** Some BMCs refuse what is done already (`Command not supported in present state`): the state is read again before a refusal is believed. */
async function refusedUnlessReached(session: Session, shell: Shell, call: Call<CallTarget>, wanted: 'on' | 'off', words: string): Promise<Outcome> {
  try {
    const answer = await status(session, shell, call);
    if (answer.kind === 'state' && answer.state === wanted) return { result: 'unclear', detail: `${words}; then ${answer.detail}` };
    const hint = words.includes('privilege')
      ? `; give the user privilege operator, and ask for it with privlvl (now ${session.settings.privilege})`
      : '';
    throw call.error('Refused', `${words}; then ${answer.detail}${hint}`);
  } catch (error) {
    if (error instanceof ShellLost) return { result: 'unclear', detail: `${words}; then ${error.message}` };
    throw error;
  }
}
