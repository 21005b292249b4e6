import type { ApiAction, History } from './history.ts';
import { judgeDumps } from './dumps.ts';
import { hostOffBehind } from './host-off.ts';
import { Verdict } from './law.ts';
import type { Law } from './law.ts';
import { REMEDY_CORDON_MARK } from './remedy-marks.ts';

/** docs/automaton.md: of a fence that was asked to isolate, and no more. */
const ISOLATION_ONLY = 'isolation-only';

/**
 * P6, holds win: after a stop, or under a hold that the fence itself records, nothing is isolated, switched off or released, except what was under way
 * within the grace. Where another controller of this program has the node by its lease, that lease holds the fence, and not what its holder releases.
 */
export const holdsWin: Law = (history, expectations) => {
  const verdict = new Verdict();
  const offs = history.sets
    .filter(({ event }) => event.want === 'off')
    .map(({ position, event }) => ({ position, at: event.at, node: event.node, what: `${event.device} was set off` }));
  for (const { position, at, node, what } of [...offs, ...history.cordons, ...history.releases]) {
    const stop = history.stopsFor(node, position).find(({ createdAt }) => at > createdAt + expectations.stopGraceMs + expectations.toleranceMs);
    verdict.check(stop === undefined, at, `${what} although NodeFenceStop ${stop?.name ?? ''} had stood since ${String(stop?.createdAt ?? 0)}`);
    const hold = activeHold(history, node, position);
    if (hold !== undefined && isHolders(history, { position, at, node, what }, hold)) continue;
    if (hold?.policy === ISOLATION_ONLY && isCordonOfRemedy(history, node, position)) continue;
    const isUnderWay = hold === undefined || at <= hold.since + expectations.stopGraceMs + expectations.toleranceMs;
    verdict.check(isUnderWay, at, `${what} although its fence says since ${String(hold?.since ?? 0)} that it is held by ${hold?.policy ?? ''}`);
  }
  judgeDumps(history, expectations.toleranceMs, verdict);
  return verdict;
};

/** The hold that the newest status shows, and since when without a break some hold stood there. */
function activeHold(history: History, node: string, position: number): ActiveHold | undefined {
  const statuses = history.fenceOf(node, position)?.statuses.between(-1, position) ?? [];
  const { policy, message = '' } = statuses.at(-1)?.value.hold ?? {};
  if (policy === undefined) return undefined;
  const before = statuses.findLastIndex(({ value }) => value.hold === undefined);
  return { policy, message, since: statuses[before + 1]?.at ?? 0 };
}

interface ActiveHold {
  policy: string;
  message: string;
  since: number;
}

/** That the fence goes no further than isolation is no word against the next remedy. Its own write names its run; an earlier one's mark may have stayed where a person uncordoned. */
function isCordonOfRemedy(history: History, node: string, position: number): boolean {
  const runOf = (at: number): string | undefined => history.node(node, at)?.metadata.annotations?.[REMEDY_CORDON_MARK];
  const run = runOf(position + 1);
  return history.cordons.some((cordon) => cordon.position === position) && run !== undefined && run !== runOf(position);
}

/** The fence waits for the lease of machine remediation, or of Metal3Remediation, and it is theirs: by the operator of the host. */
function isHolders(history: History, act: ApiAction, { policy, message }: ActiveHold): boolean {
  if (policy !== 'medik8s-lease' || !/ of nodefence-(machine|metal3)-remediation is held:/u.test(message)) return false;
  return history.releases.some(({ position }) => position === act.position) && hostOffBehind(history, act) !== undefined;
}
