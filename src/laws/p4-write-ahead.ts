import type { Expectations } from './expectations.ts';
import type { FenceHistory, Intent } from './fence-history.ts';
import type { History } from './history.ts';
import { Verdict } from './law.ts';
import type { Law } from './law.ts';
import type { PowerEvent } from './trace.ts';

/** P4, write ahead: an open intent stands in the NodeFence before a device is set; no more edges than intents. */
export const writeAhead: Law = (history, expectations) => {
  const verdict = new Verdict();
  for (const set of history.sets) {
    const { device, want, at } = set.event;
    const isCovered = history.intentsFor(set).some((intent) => covers(intent, at, expectations));
    verdict.check(isCovered, at, `${device} was set ${want ?? '?'} with no open intent in any NodeFence`);
  }
  for (const fence of history.fences) edgesWithinIntents(history, fence, expectations, verdict);
  return verdict;
};

/** A call that was given up may still arrive, but not after its deadline. */
function covers(intent: Intent, at: number, expectations: Expectations): boolean {
  return intent.isStanding || at <= intent.writtenAt + intent.entry.deadlineMs + expectations.toleranceMs;
}

function edgesWithinIntents(history: History, fence: FenceHistory, expectations: Expectations, verdict: Verdict): void {
  const incidents = new Map<number, { from: number; to: number; at: number; ids: Map<string, Set<string>> }>();
  let last: { to: number } | undefined;
  for (const { position, at, value } of fence.statuses.entries) {
    let incident = incidents.get(value.incident);
    if (incident === undefined) {
      if (last !== undefined) last.to = position;
      incident = { from: position, to: fence.deletedPosition, at, ids: new Map() };
      incidents.set(value.incident, incident);
      last = incident;
    }
    for (const { action, id } of value.journal) {
      const ids = incident.ids.get(action) ?? new Set();
      incident.ids.set(action, ids.add(id));
    }
  }
  for (const [number, { from, to, ids, at }] of incidents) {
    for (const state of ['off', 'on'] as const) {
      const edges = history
        .powerEdges(fence.node, from, to)
        .filter(
          (edge) => edge.state === state && edge.cause === 'set' && edge.isForeign !== true && !isOfBefore(history, edge, from, expectations),
        ).length;
      const intents = (ids.get(state)?.size ?? 0) + (ids.get('reboot')?.size ?? 0);
      const complaint = `incident ${String(number)} of ${fence.name} saw ${String(edges)} edges to ${state} for ${String(intents)} intents`;
      verdict.check(edges <= intents, at, complaint);
    }
  }
}

/** A set of an earlier incident took effect only now, no later than a device of this run may be. */
function isOfBefore(history: History, { node, state, at }: PowerEvent, from: number, { lateEffectMs }: Expectations): boolean {
  const sets = history.sets.filter(
    ({ position, event }) => position < from && event.node === node && event.want === state && at - event.at <= lateEffectMs,
  );
  const [first] = sets;
  if (first === undefined) return false;
  return history.powerEdges(node, first.position, from).filter((edge) => edge.state === state && edge.cause === 'set').length < sets.length;
}
