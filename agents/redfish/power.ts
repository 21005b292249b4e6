import type { Outcome, PowerState } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import { ExchangeError, type Peer, type RedfishResponse } from './connection.ts';
import type { Device } from './device.ts';
import type { SystemView } from './machine.ts';
import { allowedByActionInfo, resetAction, resetType, type ResetAction } from './reset.ts';
import { SessionLost } from './session.ts';
import { failedTask } from './task.ts';
import { textAt } from './words.ts';

const ATTEMPTS_MAX = 4;

/** The request would have gone to another connection than the one over which the identity was read; nothing was sent. */
class PartyChanged extends Error {
  override readonly name = 'PartyChanged';
}

/** What a try to send came to: an answer to judge, or a reason to check everything anew first. */
type Sent = { kind: 'answer'; response: RedfishResponse } | { kind: 'again'; etag?: string; isOtherPeer?: true } | { kind: 'lost'; detail: string };

/**
 * Identity, then Reset, over one session. `Refused` carries the device's own words; no answer, or an odd one, is `unclear` because the
 * request left and only reads can tell.
 */
export async function setPower(device: Device, call: Call, want: 'on' | 'off'): Promise<Outcome> {
  let etag: string | undefined;
  let otherPeers = 0;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const view = await device.machine.view(call);
    const action = advertised(view, call);
    const type = resetType(await allowed(device, call, action), want);
    if (type === undefined) {
      const list = (await allowed(device, call, action))?.join(', ') ?? '';
      throw call.error('Refused', `the device offers only ${list}; nothing was sent`);
    }
    // A list that was fetched just now stands between the identity and the change; read the identity last.
    const checked = action.actionInfo === undefined ? view : await device.machine.view(call);
    const sent = await send(device, call, { target: action.target, type, etag, checked });
    if (sent.kind === 'answer') return judge(device, call, want, sent.response);
    if (sent.kind === 'lost') return { result: 'unclear', detail: sent.detail };
    if (sent.etag !== undefined && etag !== undefined)
      return refusedUnlessReached(device, call, want, 'HTTP 412 again: the device wants another ETag than it shows');
    etag = sent.etag;
    otherPeers += sent.isOtherPeer === true ? 1 : 0;
  }
  if (otherPeers === ATTEMPTS_MAX) {
    throw call.error(
      'Misconfigured',
      'the device closes every connection and has neither sessions nor TLS: nothing ties its identity to the reset; nothing was sent',
    );
  }
  throw call.error('Unreachable', `the session or the connection was lost ${ATTEMPTS_MAX} times between identity and reset; nothing was sent`);
}

function advertised(view: SystemView, call: Call): ResetAction {
  if (view.system === undefined) throw call.error('Unreachable', `${view.detail}; nothing was sent`);
  const action = resetAction(view.system);
  if (action === undefined) throw call.error('Refused', 'the ComputerSystem advertises no Reset action; nothing was sent');
  return action;
}

async function allowed(device: Device, call: Call, action: ResetAction): Promise<readonly string[] | undefined> {
  if (action.actionInfo === undefined) return action.allowed;
  if (!device.actionInfos.has(action.actionInfo)) {
    device.actionInfos.set(action.actionInfo, await allowedByActionInfo(device.session, call, action.actionInfo));
  }
  return device.actionInfos.get(action.actionInfo);
}

/** The same device at the other end: same socket, same session token, or at least the same certificate. */
function isSameParty(device: Device, token: string | undefined, before: Peer, now: Peer): boolean {
  if (before.socket === now.socket) return true;
  if (token !== undefined) return device.session.token === token;
  return now.fingerprint !== undefined && now.fingerprint === before.fingerprint;
}

async function send(
  device: Device,
  call: Call,
  reset: { target: string; type: string; etag: string | undefined; checked: SystemView },
): Promise<Sent> {
  const token = device.session.token;
  try {
    const response = await device.session.change(call, {
      method: 'POST',
      path: reset.target,
      body: { ResetType: reset.type },
      ...(reset.etag === undefined ? {} : { headers: { 'If-Match': reset.etag } }),
      gate: (peer) => {
        if (!isSameParty(device, token, reset.checked.response.peer, peer)) throw new PartyChanged();
        call.target.beforeSend();
      },
    });
    const isEtagWanted = response.status === 412 || response.status === 428;
    return isEtagWanted ? { kind: 'again', etag: etagOf(reset.checked) ?? '*' } : { kind: 'answer', response };
  } catch (error) {
    if (error instanceof PartyChanged) return { kind: 'again', isOtherPeer: true };
    if (error instanceof SessionLost) return { kind: 'again' };
    if (error instanceof ExchangeError && error.isSent) {
      return { kind: 'lost', detail: `sent, but ${error.kind === 'ended' ? call.endedError().facts.answered : error.message}` };
    }
    throw error;
  }
}

function etagOf(view: SystemView): string | undefined {
  return view.response.headers['etag'] ?? textAt(view.system, '@odata.etag');
}

async function judge(device: Device, call: Call, want: 'on' | 'off', response: RedfishResponse): Promise<Outcome> {
  const { status } = response;
  const words = device.session.words(response);
  if (status === 202) {
    const failure = await failedTask(device.session, call, response);
    return failure === undefined ? { result: 'accepted', detail: words } : refusedUnlessReached(device, call, want, failure);
  }
  if (status < 300) return { result: 'accepted', detail: words };
  if (status === 429) throw call.error('Unreachable', `${words}; the device is busy and did nothing`);
  // A conflict or a failure inside the device may come with or without the effect: only reads can tell.
  if (status === 408 || status === 409 || (status >= 500 && status !== 501)) return { result: 'unclear', detail: words };
  return refusedUnlessReached(device, call, want, words);
}

/** "Already off" is refused by some devices (HPE: 400 InvalidOperationForSystemState): the state is read again before a refusal is believed. */
async function refusedUnlessReached(device: Device, call: Call, want: PowerState, words: string): Promise<Outcome> {
  let view: SystemView;
  try {
    view = await device.machine.view(call);
  } catch (error) {
    if (error instanceof ExchangeError) return { result: 'unclear', detail: `${words}; then ${error.message}` };
    throw error;
  }
  if (view.state === want || view.state === 'pending') return { result: 'unclear', detail: `${words}; then ${view.detail}` };
  throw call.error('Refused', `${words}; ${view.detail}`);
}
