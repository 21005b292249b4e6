import type { Outcome } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import type { RedfishResponse } from './connection.ts';
import type { Device } from './device.ts';
import { ExchangeError } from './exchange-error.ts';
import type { Peer } from './kept-socket.ts';
import type { Order, ResourceView, Wish } from './resource-view.ts';
import { SessionLost } from './session.ts';
import { textAt } from './words.ts';

const ATTEMPTS_MAX = 4;

/** The request would have gone to another connection than the one over which the identity was read; nothing was sent. */
class PartyChanged extends Error {
  override readonly name = 'PartyChanged';
}

/** What a try to send came to: an answer to judge, a reason to check everything anew first, or a request whose fate is not known. */
type Sent =
  | { kind: 'answer'; response: RedfishResponse }
  | { kind: 'other-peer' }
  | { kind: 'session-lost'; words: string }
  | { kind: 'lost'; detail: string };

/**
 * Identity, then the order, over one session. `Refused` carries the device's own words; no answer, or an odd one, is `unclear` because the
 * request left and only reads can tell. One request on a warm connection over which the identity was read just now.
 */
export async function carryOut(device: Device, call: Call, wish: Wish): Promise<Outcome> {
  const { subject } = device;
  let isEtagWanted = false;
  let isRecentGood = true;
  let otherPeers = 0;
  let isLoggedInAgain = false;
  device.tasks.forget(call.target.plug);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const recent = isRecentGood ? subject.recent(call) : undefined;
    isRecentGood = false;
    const view = recent ?? (await subject.view(call));
    device.boots.saw(view);
    if (view.resource === undefined || view.state === 'unknown') throw call.error('Unreachable', `state unknown (${view.detail}); nothing was sent`);
    const order = await subject.order(call, view, wish);
    // What was fetched just now stands between the identity and the change; read the identity last.
    const checked = order.isLate ? await subject.view(call) : view;
    const sent = await send(device, call, order, checked, isEtagWanted);
    switch (sent.kind) {
      case 'lost':
        return { result: 'unclear', detail: sent.detail };
      case 'other-peer':
        otherPeers += 1;
        break;
      case 'session-lost':
        if (isLoggedInAgain) throw call.error('Refused', `${sent.words} (logged in again, and refused again); nothing was done`);
        isLoggedInAgain = true;
        break;
      case 'answer': {
        const { status } = sent.response;
        // It did nothing, and says when it will.
        if (status === 429 && attempt < ATTEMPTS_MAX && (await device.session.waitedForBusy(call, sent.response))) {
          isRecentGood = true;
          break;
        }
        const isConditional = status === 412 || status === 428;
        if (isConditional && isEtagWanted)
          return refusedUnlessReached(device, call, wish, `HTTP ${status} again: the device wants another ETag than it shows`);
        // The target may have moved since we looked.
        const isMoved = status === 404 && recent !== undefined;
        if (!isConditional && !isMoved) return judge(device, call, wish, sent.response);
        if (isMoved) subject.forget();
        isEtagWanted ||= isConditional;
      }
    }
  }
  if (otherPeers === ATTEMPTS_MAX) {
    throw call.error(
      'Misconfigured',
      'the device closes every connection and has neither sessions nor TLS: nothing ties its identity to the reset; nothing was sent',
    );
  }
  throw call.error('Unreachable', `the session or the connection was lost ${ATTEMPTS_MAX} times between identity and reset; nothing was sent`);
}

/** The same device at the other end: same socket, same session token, or at least the same certificate. */
function isSameParty(device: Device, checked: ResourceView, now: Peer): boolean {
  const before = checked.response.peer;
  if (before.socket === now.socket) return true;
  if (checked.token !== undefined) return device.session.token === checked.token;
  return now.fingerprint !== undefined && now.fingerprint === before.fingerprint;
}

async function send(device: Device, call: Call, order: Order, checked: ResourceView, isEtagWanted: boolean): Promise<Sent> {
  try {
    const response = await device.session.change(call, {
      method: 'POST',
      path: order.target,
      body: order.body,
      ...(isEtagWanted ? { headers: { 'If-Match': etagOf(checked) ?? '*' } } : {}),
      gate: (peer) => {
        if (!isSameParty(device, checked, peer)) throw new PartyChanged();
        call.target.beforeSend();
      },
    });
    return { kind: 'answer', response };
  } catch (error) {
    if (error instanceof PartyChanged) return { kind: 'other-peer' };
    if (error instanceof SessionLost) return { kind: 'session-lost', words: error.message };
    if (error instanceof ExchangeError && error.isSent) {
      return { kind: 'lost', detail: `sent, but ${error.kind === 'ended' ? call.endedError().facts.answered : error.message}` };
    }
    throw error;
  }
}

function etagOf(view: ResourceView): string | undefined {
  return view.response.headers['etag'] ?? textAt(view.resource, '@odata.etag');
}

async function judge(device: Device, call: Call, wish: Wish, response: RedfishResponse): Promise<Outcome> {
  const { status } = response;
  const message = device.session.describe(response);
  if (status === 202) {
    const failure = await device.tasks.begin(call, response, wish);
    return failure === undefined ? { result: 'accepted', detail: message } : refusedUnlessReached(device, call, wish, failure);
  }
  if (status < 300) return { result: 'accepted', detail: message };
  if (status === 429) throw call.error('Unreachable', `${message}; the device is busy and did nothing`);
  // A conflict or a failure inside the device may come with or without the effect: only reads can tell.
  if (status === 408 || status === 409 || (status >= 500 && status !== 501)) return { result: 'unclear', detail: message };
  return refusedUnlessReached(device, call, wish, message);
}

/** "Already off" is refused by some devices (HPE: 400 InvalidOperationForSystemState): the state is read again before a refusal is believed. */
async function refusedUnlessReached(device: Device, call: Call, wish: Wish, message: string): Promise<Outcome> {
  let view: ResourceView;
  try {
    view = await device.subject.view(call);
  } catch (error) {
    if (error instanceof ExchangeError) return { result: 'unclear', detail: `${message}; then ${error.message}` };
    throw error;
  }
  if (view.state === wish || (view.state === 'pending' && wish !== 'nmi')) return { result: 'unclear', detail: `${message}; then ${view.detail}` };
  throw call.error('Refused', `${message}; ${view.detail}`);
}
