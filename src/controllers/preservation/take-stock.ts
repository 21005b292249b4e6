import type { Action } from './actions.ts';
import { isFenced, mayFail, nextPhase, plainPhase } from './phase.ts';
import type { Pools } from './pools.ts';
import { claimsPreserved } from './condition.ts';
import { effectiveValue, isBound, readMarks } from './marks.ts';
import { CORDON_MARK, NODE_ENDED, NODE_EXPIRY, PRESERVED_TAINT, REQUEST_MARK, SCALE_DOWN_BEFORE, SCALE_DOWN_MARKER } from './names.ts';
import type { MachineFacts, NodeFacts, Snapshot } from './snapshot.ts';
import { machineRef, machineSubject, plainSubject } from './subject.ts';
import type { Place, Subject } from './subject.ts';

/** A subject as it will be once `turn` is written; undefined: its phase is as it stands. */
export interface Stock {
  subject: Subject;
  /** The write of the phase; nothing else is done before it is there. */
  turn?: Action;
  dueMs?: number;
}

interface Roster {
  machines: readonly MachineFacts[];
  nodeOf: ReadonlyMap<MachineFacts, NodeFacts>;
  /** Machines whose node another machine claims as well: nothing is known of them for sure. */
  disputed: readonly { machine: MachineFacts; owner: MachineFacts }[];
  plain: readonly NodeFacts[];
}

/** Who stands on which node; of two machines that name one node the newer has it. */
function rosterOf(snapshot: Snapshot): Roster {
  const nodes = new Map(snapshot.nodes.map((node) => [node.name, node]));
  const owners = new Map<string, MachineFacts>();
  for (const machine of snapshot.machines) {
    if (machine.nodeName === undefined) continue;
    const other = owners.get(machine.nodeName);
    const isNewer = other === undefined || machine.createdMs > other.createdMs || (machine.createdMs === other.createdMs && machine.uid > other.uid);
    if (isNewer) owners.set(machine.nodeName, machine);
  }
  const nodeOf = new Map<MachineFacts, NodeFacts>();
  const disputed: { machine: MachineFacts; owner: MachineFacts }[] = [];
  for (const machine of snapshot.machines) {
    const owner = machine.nodeName === undefined ? undefined : owners.get(machine.nodeName);
    if (owner !== undefined && owner !== machine) disputed.push({ machine, owner });
    const node = machine.nodeName === undefined || owner !== machine ? undefined : nodes.get(machine.nodeName);
    if (node !== undefined) nodeOf.set(machine, node);
  }
  const excluded = new Set(disputed.map(({ machine }) => machine));
  const machines = snapshot.machines.filter((machine) => !excluded.has(machine));
  return { machines, nodeOf, disputed, plain: snapshot.nodes.filter(({ name }) => !owners.has(name)) };
}

const OWN_MARKS = [CORDON_MARK, NODE_ENDED, NODE_EXPIRY, REQUEST_MARK, SCALE_DOWN_BEFORE, SCALE_DOWN_MARKER];

/** Does a Node without a Machine concern us at all? Its pool is configured, somebody asks, or something of ours is left on it. */
function concerns(subject: Subject, node: NodeFacts): boolean {
  if (subject.group !== undefined || isBound(subject.marks, subject.expiryMs)) return true;
  return claimsPreserved(node.preserved) || node.taints.includes(PRESERVED_TAINT) || OWN_MARKS.some((key) => node.annotations[key] !== undefined);
}

function healthTimeoutOf(place: Place | undefined, pools: Snapshot['pools']): number | undefined {
  return place?.pool === undefined ? undefined : pools.get(place.pool)?.healthTimeoutMs;
}

/** Of those whose time as Unknown is over one for each group may fail, the longest silent first. */
function allowed(roster: Roster, places: ReadonlyMap<MachineFacts, Place>, { nowMs, heardSinceMs, pools }: Snapshot): ReadonlySet<MachineFacts> {
  const groups = new Map<string, MachineFacts[]>();
  for (const machine of roster.machines) {
    const key = places.get(machine)?.group ?? machine.uid;
    const members = groups.get(key) ?? [];
    members.push(machine);
    groups.set(key, members);
  }
  const found = new Set<MachineFacts>();
  for (const members of groups.values()) {
    if (!mayFail(members)) continue;
    const due = members.filter(
      (machine) =>
        machine.phase === 'Unknown' &&
        nextPhase(machine, roster.nodeOf.get(machine), nowMs, {
          mayFail: true,
          isFencedToKeep: false,
          healthTimeoutMs: healthTimeoutOf(places.get(machine), pools),
          heardSinceMs,
        }).phase === 'Failed',
    );
    due.sort((one, other) => (one.phaseSinceMs ?? 0) - (other.phaseSinceMs ?? 0) || (one.name < other.name ? -1 : 1));
    if (due[0] !== undefined) found.add(due[0]);
  }
  return found;
}

/**
 * Under an open fence those fail at once that will be preserved: who asked for it, and the newest of the others as far as there are places. The rest
 * keeps the time that MCM gives it, for its fence may bring it back.
 */
function fencedToKeep(roster: Roster, places: ReadonlyMap<MachineFacts, Place>, pools: Pools): ReadonlySet<MachineFacts> {
  const shares = pools.shares();
  const taken = new Map<string, number>();
  const kept = new Set<MachineFacts>();
  const waiting: [MachineFacts, string][] = [];
  for (const machine of roster.machines) {
    const node = roster.nodeOf.get(machine);
    const group = places.get(machine)?.group;
    const value = effectiveValue(readMarks(machine.annotations, node?.annotations), node !== undefined);
    if (value === 'automatic' && group !== undefined) taken.set(group, (taken.get(group) ?? 0) + 1);
    if (!isFenced(node) || machine.isDeleting || pools.overrideOf(machine) !== undefined) continue;
    if (value === 'now' || value === 'when-failed' || value === 'automatic') kept.add(machine);
    else if (value === 'none' && group !== undefined) waiting.push([machine, group]);
  }
  waiting.sort(([one], [other]) => other.createdMs - one.createdMs || (one.name < other.name ? -1 : 1));
  for (const [machine, group] of waiting) {
    const count = taken.get(group) ?? 0;
    if (count >= (shares.get(group) ?? 0)) continue;
    taken.set(group, count + 1);
    kept.add(machine);
  }
  return kept;
}

/** The subjects of the snapshot with their phases; in own mode with the phases that must be written. */
export function takeStock(snapshot: Snapshot, pools: Pools): { stock: Stock[]; problems: string[] } {
  const { nowMs, heardSinceMs, mode } = snapshot;
  const roster = rosterOf(snapshot);
  const places = new Map(roster.machines.map((machine) => [machine, pools.placeOf(machine, roster.nodeOf.get(machine))]));
  for (const node of roster.plain) pools.placeOf(undefined, node);
  const able = allowed(roster, places, snapshot);
  const kept = fencedToKeep(roster, places, pools);
  const stock: Stock[] = roster.machines.map((machine) => {
    const node = roster.nodeOf.get(machine);
    const healthTimeoutMs = healthTimeoutOf(places.get(machine), snapshot.pools);
    const next =
      mode === 'own' && !machine.isDeleting
        ? nextPhase(machine, node, nowMs, { mayFail: able.has(machine), isFencedToKeep: kept.has(machine), healthTimeoutMs, heardSinceMs })
        : { phase: machine.phase };
    const subject = machineSubject(machine, node, next.phase, places.get(machine) ?? { group: undefined, pool: undefined });
    const dueMs = 'dueMs' in next ? next.dueMs : undefined;
    return { subject, ...(next.phase !== machine.phase && { turn: turned(machine, next.phase) }), ...(dueMs !== undefined && { dueMs }) };
  });
  for (const node of roster.plain) {
    const place = pools.placeOf(undefined, node);
    const { phase, dueMs } = plainPhase(node, nowMs, healthTimeoutOf(place, snapshot.pools), heardSinceMs);
    const subject = plainSubject(node, phase, place);
    if (concerns(subject, node)) stock.push({ subject, ...(dueMs !== undefined && { dueMs }) });
  }
  const problems = roster.disputed.map(
    ({ machine, owner }) => `Machine ${machine.namespace}/${machine.name} names the node of the newer ${owner.name}: nothing is done about it`,
  );
  return { stock, problems };
}

function turned(machine: MachineFacts, phase: Subject['phase']): Action {
  const was = { phase: machine.phase, expiryMs: machine.expiryMs };
  const isBad = phase === 'Failed';
  const message = `phase ${machine.phase || 'unknown'} → ${phase}`;
  const event = { type: isBad ? 'Warning' : 'Normal', reason: `Machine${phase}`, message } as const;
  return { kind: 'machine-status', target: machineRef(machine), was, to: { ...was, phase }, event };
}
