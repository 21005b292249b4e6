import { letOns } from './host-off.ts';
import { hasOutOfService } from './history.ts';
import type { History, PlacedEvent } from './history.ts';
import type { Expectations } from './expectations.ts';
import { Verdict } from './law.ts';
import type { Law } from './law.ts';
import type { DeviceEvent } from './trace.ts';
import { revocationBehind } from './revocation.ts';
import { waitBehind } from './wait.ts';

/** P3, order: one set at a time, every off verified before any on, no taint left when the machine starts, nothing of it terminating. */
export const order: Law = (history, expectations) => {
  const verdict = new Verdict();
  oneRunAtATime(history, verdict);
  for (const set of history.sets) if (set.event.want === 'on') beforeOn(history, expectations, set, verdict);
  for (const { node, position, at } of letOns(history)) {
    const isTainted = history.releases.some(
      (release) => release.node === node && release.position < position && release.what.includes('out-of-service'),
    );
    const stands = isTainted && hasOutOfService(history.node(node, position));
    verdict.check(!stands, at, `the host of ${node} was let on while the Node had our out-of-service taint`);
  }
  for (const release of history.releases) {
    // A machine that its watchdog reset has its power on; P11 judges whether all that ran on it has ended.
    if (!release.what.includes('out-of-service') || waitBehind(history, release)?.kind === 'watchdog') continue;
    verdict.check(!history.isPoweredOn(release.node, release.position), release.at, `${release.what} while its power was on`);
  }
  return verdict;
};

function oneRunAtATime(history: History, verdict: Verdict): void {
  for (const fence of history.fences) {
    for (const { at, value } of fence.statuses.entries) {
      const open = value.journal.filter((entry) => entry.finishedAt === undefined && (entry.action === 'on' || entry.action === 'off'));
      if (open.length === 0) continue;
      verdict.check(open.length === 1, at, `${fence.name} has ${String(open.length)} sets open at once: ${open.map(({ id }) => id).join(', ')}`);
    }
  }
}

function beforeOn(history: History, expectations: Expectations, set: PlacedEvent<DeviceEvent>, verdict: Verdict): void {
  const { node, at } = set.event;
  const fence = history.fenceOf(node, set.position);
  const from = fence === undefined ? -1 : history.incidentStart(fence, set.position);
  const events = history.deviceEvents.filter(({ position, event }) => event.node === node && position > from && position < set.position);
  const isReadBack = (told: PlacedEvent<DeviceEvent>): boolean =>
    events.some(
      ({ position, event }) => position > told.position && event.device === told.event.device && event.action === 'read' && event.shown === 'off',
    );
  const offs = events.filter(({ event }) => isAccepted(event));
  for (const device of new Set(offs.map(({ event }) => event.device))) {
    const told = events.findLast(({ event }) => event.device === device && event.action === 'set' && event.answer !== 'lost');
    if (told?.event.want !== 'off') continue;
    // A device that failed is left out when another was told off after it, and was read back: the next level took over.
    const isSuperseded = offs.some((later) => later.position > told.position && later.event.device !== device && isReadBack(later));
    verdict.check(
      isReadBack(told) || isSuperseded || isRefuted(history, told, set),
      at,
      `${node} was switched on before the off of ${device} was read back`,
    );
  }
  verdict.check(!hasOutOfService(history.node(node, set.position)), at, `${node} was switched on while it had the out-of-service taint`);
  // What was let go because its storage was revoked keeps its volumes attached (P1), and says nothing of the pods that stayed.
  const released = history.releases.find(
    (release) =>
      release.node === node &&
      release.position > from &&
      release.position < set.position &&
      revocationBehind(history, expectations, release) === undefined,
  );
  if (released === undefined) return;
  const hasTimedOut = fence?.statuses.before(set.position)?.released?.timedOut === true;
  const isOver = hasTimedOut || at - released.at >= expectations.releaseTimeoutMs - expectations.toleranceMs;
  const left = [...history.terminatingPods(node, set.position), ...history.volumeAttachments(node, set.position)];
  verdict.check(left.length === 0 || isOver, at, `${node} was switched on before ${left.join(', ')} was gone`);
}

/** A set that the device refused, or that never reached it, switches nothing. */
function isAccepted(event: DeviceEvent): boolean {
  return event.action === 'set' && event.want === 'off' && !/^[45]\d\d|^lost$/.test(event.answer);
}

/** Its time ran out, and it was read on after that: nothing of it is still to come, and nothing was let go for its sake. A hold that came after it has the machine be as it was. */
function isRefuted(history: History, told: PlacedEvent<DeviceEvent>, { position }: PlacedEvent<DeviceEvent>): boolean {
  const { node, device } = told.event;
  const ended = history
    .fenceOf(node, position)
    ?.statuses.entries.find(
      (entry) =>
        entry.position > told.position &&
        entry.value.journal.some((run) => run.device === device && run.action === 'off' && run.result === 'timeout'),
    );
  if (
    ended === undefined ||
    history.releases.some((release) => release.node === node && release.position > told.position && release.position < position)
  )
    return false;
  const reads = history.deviceEvents.filter(({ event }) => event.device === device && event.action === 'read' && event.shown !== undefined);
  const last = reads.findLast((read) => read.position < position);
  return last !== undefined && last.position > ended.position && last.event.shown === 'on';
}
