import type { Outcome, PowerState, Reading, Target } from '../../src/ports/agents.ts';
import type { Call, CallTarget } from '../shared/call.ts';
import { whyNotUp } from './chassis-status.ts';
import { checkIdentity } from './identity.ts';
import type { Control, Line, NoAnswer } from './line.ts';
import type { Session } from './session.ts';

const APPLICATION = 0x06;
const GET_DEVICE_ID = 0x01;

/** The line is of no use any more; a read may be tried over a fresh one. */
class LineLost extends Error {
  override readonly name = 'LineLost';
}

interface Identified {
  identity: Reading['identity'];
  /** Why it is unverified; empty otherwise. */
  why: string;
}

/** The power state that the BMC shows, and whose machine it says it is, over one session. */
export async function readPower(session: Session, call: Call<CallTarget>, target: Target): Promise<Reading<PowerState>> {
  return overLine(session, call, async (line) => {
    const { identity, why } = await identify(session, line, call, target, 'once');
    const { state, detail } = await status(session, line, call);
    return { state, detail: why === '' ? detail : `${detail}, identity: ${why}`, identity, boot: await session.boot(call) };
  });
}

/** Chassis Control, sent once, in the session that has just shown the machine's identity. One that may have left is never sent anew. */
export async function controlPower(session: Session, call: Call<CallTarget>, target: Target, control: Control): Promise<Outcome> {
  const line = await overLine(session, call, async (opened) => {
    await identify(session, opened, call, target, 'anew');
    return opened;
  });
  const answer = await line.control(control, call, () => target.beforeSend());
  if (answer.kind === 'ended' || answer.kind === 'lost') {
    session.drop();
    const why = answer.kind === 'ended' ? call.endedError() : call.error('Unreachable', answer.why);
    if (!answer.isSent) throw why;
    return { result: 'unclear', detail: `sent, but ${why.facts.answered}` };
  }
  if (answer.kind === 'refused') return refusedUnlessReached(session, line, call, control, answer.detail);
  // Silence or an odd answer: what this line says next could be the rest of it.
  if (answer.kind === 'unclear') session.drop();
  return { result: answer.kind, detail: answer.detail };
}

/** Runs reads, a second time over a fresh line when the first was lost: a restarted BMC forgets its sessions. */
export async function overLine<T>(session: Session, call: Call<CallTarget>, work: (line: Line) => Promise<T>): Promise<T> {
  try {
    return await work(await session.line(call));
  } catch (error) {
    if (!(error instanceof LineLost)) throw error;
    session.drop();
  }
  try {
    return await work(await session.line(call));
  } catch (error) {
    if (!(error instanceof LineLost)) throw error;
    session.drop();
    throw call.error('Unreachable', error.message);
  }
}

/** The answer, or the error that its absence is. */
export function answered<T extends { kind: string }>(session: Session, call: Call<CallTarget>, answer: T | NoAnswer): Exclude<T, NoAnswer> {
  if (!isNoAnswer(answer)) return answer as Exclude<T, NoAnswer>;
  session.drop();
  if (answer.kind === 'ended') throw call.endedError();
  throw new LineLost(answer.why);
}

function isNoAnswer(answer: { kind: string }): answer is NoAnswer {
  return answer.kind === 'ended' || answer.kind === 'lost';
}

async function status(session: Session, line: Line, call: Call<CallTarget>): Promise<{ state: 'on' | 'off' | 'unknown'; detail: string }> {
  const answer = answered(session, call, await line.status(call));
  if (answer.isOdd === true) session.drop();
  if (answer.isBlank !== true || session.isKnownUp(line)) return answer;
  // Behind a session of ipmitool it may have started since, and is asked each time.
  const why = whyNotUp(answered(session, call, await line.raw(APPLICATION, GET_DEVICE_ID, [], call)));
  if (why === undefined) {
    session.noteUp(line);
    return answer;
  }
  return { state: 'unknown', detail: `an empty chassis status, which is no off: ${why}` };
}

/** Another machine than recorded, or another BMC than pinned, is `Misconfigured`. `anew`: asked again unless this session has just shown it. */
export async function identify(session: Session, line: Line, call: Call<CallTarget>, target: Target, when: 'once' | 'anew'): Promise<Identified> {
  const { pinnedGuid } = session.settings;
  let shown = session.shownGuid(line, when);
  if (shown === undefined) {
    shown = answered(session, call, await line.guid(call, pinnedGuid !== undefined));
    session.noteGuid(line, shown);
  }
  const check = checkIdentity(shown.kind === 'guid' ? shown.hexadecimal : undefined, target.identity.systemUUID, pinnedGuid);
  if (check.kind === 'verified') return { identity: 'verified', why: '' };
  if (check.kind === 'unverified') return { identity: 'unverified', why: shown.kind === 'none' ? `${check.why} (${shown.detail})` : check.why };
  const { node } = target.identity;
  const expected = check.expectedBy === 'pinned' ? `guid=${check.expected} is configured` : `node ${node} has system UUID ${check.expected}`;
  const remedy =
    check.expectedBy === 'pinned' ? '' : `; if that is the BMC's own GUID, pin it with guid=${check.shown} and write identity=unverified`;
  throw call.error('Misconfigured', `the BMC shows GUID ${check.shown}, but ${expected}${remedy}`);
}

/** Some BMCs refuse what is done already (`Command not supported in present state`): the state is read again before a refusal is believed. */
async function refusedUnlessReached(session: Session, line: Line, call: Call<CallTarget>, control: Control, message: string): Promise<Outcome> {
  const hint = message.includes('privilege')
    ? `; give the user privilege operator, and ask for it with privlvl (now ${session.settings.privilege})`
    : '';
  if (control === 'diag') throw call.error('Refused', `${message}${hint}`);
  try {
    const { state, detail } = await status(session, line, call);
    if (state === control) return { result: 'unclear', detail: `${message}; then ${detail}` };
    throw call.error('Refused', `${message}; then ${detail}${hint}`);
  } catch (error) {
    if (error instanceof LineLost) return { result: 'unclear', detail: `${message}; then ${error.message}` };
    throw error;
  }
}
