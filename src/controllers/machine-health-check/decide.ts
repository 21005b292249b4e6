import type { Decision } from './actions.ts';
import { Roster } from './roster.ts';
import type { Snapshot } from './snapshot.ts';

/** All checks of one picture at once; see Snapshot and Decision. Pure: done once over, it has nothing more to do. `Roster` does the same change by change. */
export function decide(snapshot: Snapshot): Decision {
  const roster = new Roster(snapshot);
  for (const check of snapshot.checks) roster.putCheck(check);
  for (const cluster of snapshot.clusters) roster.putCluster(cluster);
  for (const node of snapshot.nodes) roster.putNode(node);
  for (const machine of snapshot.machines) roster.putMachine(machine);
  for (const request of snapshot.requests) roster.putRequest(request);
  for (const template of snapshot.templates) roster.putTemplate(template);
  for (const [uid, words] of snapshot.refusals ?? []) roster.setRefusal(uid, words);
  for (const [uid, holder] of snapshot.claims ?? []) roster.setClaim(uid, holder);
  roster.setUnheard(snapshot.unheardNodes ?? new Set(), snapshot.unheardKinds ?? new Set());
  return joined([...roster.checks()].map((key) => roster.decide(key, snapshot.nowMs, snapshot.heard)));
}

function joined(decisions: readonly Decision[]): Decision {
  const due = decisions.flatMap(({ nextDueMs }) => nextDueMs ?? []);
  return {
    actions: decisions.flatMap(({ actions }) => actions),
    views: decisions.flatMap(({ views }) => views),
    notices: decisions.flatMap(({ notices }) => notices),
    problems: decisions.flatMap(({ problems }) => problems),
    ...(due.length > 0 && { nextDueMs: Math.min(...due) }),
  };
}
