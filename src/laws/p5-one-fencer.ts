import type { Expectations } from './expectations.ts';
import type { History, PlacedEvent } from './history.ts';
import { Verdict } from './law.ts';
import type { Law } from './law.ts';
import type { DeviceEvent } from './trace.ts';

const LEASE_RESERVE_MS = 1_000;
/** Debian's ipmi_sim does not tell whose request it answers. */
const ANONYMOUS_SESSIONS: ReadonlySet<string> = new Set(['', 'ipmi_sim']);

/** P5, one fencer: each set under a valid lease, by its holder, and `on` not before `settle` has passed since the last off. */
export const oneFencer: Law = (history, expectations) => {
  const verdict = new Verdict();
  for (const set of history.sets) {
    leaseHeld(history, expectations, set, verdict);
    ownSession(history, expectations, set, verdict);
    if (set.event.want === 'on') settled(history, expectations, set, verdict);
  }
  return verdict;
};

function leaseHeld(history: History, expectations: Expectations, set: PlacedEvent<DeviceEvent>, verdict: Verdict): void {
  const { device, want, at } = set.event;
  const what = `${device} was set ${want ?? '?'}`;
  const renewal = history.leadership.entryBefore(begunAt(history, expectations, set));
  const holder = renewal?.value.spec.holderIdentity ?? '';
  verdict.check(holder !== '', at, `${what} while nobody held the Lease`);
  if (renewal === undefined || holder === '') return;
  const ageMs = at - renewal.at;
  const isValid = ageMs <= expectations.leaseDurationMs - LEASE_RESERVE_MS + expectations.toleranceMs;
  verdict.check(isValid, at, `${what} ${String(Math.round(ageMs))} ms after the last renewal of the Lease`);
  const epoch = renewal.value.spec.leaseTransitions ?? 0;
  const epochs = history.intentsFor(set).map(({ entry }) => entry.epoch);
  if (epochs.length > 0) verdict.check(epochs.includes(epoch), at, `${what} in epoch ${epochs.join(', ')} while the Lease stood at ${String(epoch)}`);
}

/**
 * What had left before the Lease was given back arrives a moment later: its intent stays open, and the successor waits that out. Unless it is the successor's
 * own, who took the Lease in that moment.
 */
function begunAt(history: History, { toleranceMs }: Expectations, set: PlacedEvent<DeviceEvent>): number {
  const { position, event } = set;
  const handOvers = history.leadership.between(-1, position).filter(({ at, value }) => event.at - at <= toleranceMs && !value.spec.holderIdentity);
  return isOfHolder(history, set) ? position : (handOvers[0]?.position ?? position);
}

function isOfHolder(history: History, set: PlacedEvent<DeviceEvent>): boolean {
  const now = history.leadership.before(set.position)?.spec;
  if (!now?.holderIdentity) return false;
  const first = sessionBegin(history, set.event);
  if (first !== undefined) return history.leadership.before(first.position)?.spec.holderIdentity === now.holderIdentity;
  return history.intentsFor(set).some(({ entry }) => entry.epoch === now.leaseTransitions);
}

/** `undefined`: nobody tells whose session it is. */
function sessionBegin(history: History, { device, session }: DeviceEvent): PlacedEvent<DeviceEvent> | undefined {
  if (ANONYMOUS_SESSIONS.has(session)) return undefined;
  return history.deviceEvents.find(({ event }) => event.device === device && event.session === session);
}

/** Only leaders speak to devices: a session that began under another holder of the Lease is that of a predecessor. */
function ownSession(history: History, expectations: Expectations, set: PlacedEvent<DeviceEvent>, verdict: Verdict): void {
  const { device, want, at } = set.event;
  const first = sessionBegin(history, set.event);
  if (first === undefined) return;
  const began = history.leadership.before(first.position)?.spec.holderIdentity ?? '';
  const now = history.leadership.before(begunAt(history, expectations, set))?.spec.holderIdentity ?? '';
  const isOwn = began === '' || now === '' || began === now;
  verdict.check(isOwn, at, `${device} was set ${want ?? '?'} over a session of ${began} while ${now} held the Lease`);
}

function settled(history: History, expectations: Expectations, set: PlacedEvent<DeviceEvent>, verdict: Verdict): void {
  const { node, at } = set.event;
  const off = history.sets.findLast(({ position, event }) => position < set.position && event.node === node && event.want === 'off');
  if (off === undefined) return;
  const passedMs = at - off.event.at;
  const isSettled = passedMs >= expectations.settleMs - expectations.toleranceMs;
  verdict.check(isSettled, at, `${node} was switched on ${String(Math.round(passedMs))} ms after the last off was sent to it`);
}
