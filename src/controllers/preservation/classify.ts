import type { Action } from './actions.ts';
import { isFenced, mayFail, nextPhase, plainPhase, replacementsIn } from './phase.ts';
import type { NextPhase } from './phase.ts';
import type { Pools } from './pools.ts';
import { assign } from './assignment.ts';
import type { Assigned } from './assignment.ts';
import { claimsPreserved } from './condition.ts';
import { effectiveValue, isBound, readMarks } from './marks.ts';
import { CORDON_MARK, NODE_ENDED, NODE_EXPIRY, PRESERVED_TAINT, REQUEST_MARK, SCALE_DOWN_BEFORE, SCALE_DOWN_MARKER } from './names.ts';
import type { MachineFacts, NodeFacts, Snapshot } from './snapshot.ts';
import { machineRef, machineSubject, plainSubject } from './subject.ts';
import type { Place, Subject } from './subject.ts';

/** A subject as it will be once `transition` is written; undefined: its phase is as it stands. */
export interface Classified {
  subject: Subject;
  /** The write of the phase; nothing else is done before it is there. */
  transition?: Action | undefined;
  dueMs?: number | undefined;
}

const OWN_MARKS = [CORDON_MARK, NODE_ENDED, NODE_EXPIRY, REQUEST_MARK, SCALE_DOWN_BEFORE, SCALE_DOWN_MARKER];

/** Does a Node without a Machine concern us at all? Its pool is configured, somebody asks, or something of ours is left on it. */
function concerns(subject: Subject, node: NodeFacts): boolean {
  if (subject.group !== undefined || isBound(subject.marks, subject.expiryMs)) return true;
  return claimsPreserved(node.preserved) || node.taints.includes(PRESERVED_TAINT) || OWN_MARKS.some((key) => node.annotations[key] !== undefined);
}

function healthTimeoutOf({ pool }: Place, { pools }: Snapshot): number | undefined {
  return pool === undefined ? undefined : pools.get(pool)?.healthTimeoutMs;
}

/** Of those whose time as Unknown is over one for each group may fail, the longest silent first. */
function failing(assigned: readonly Assigned[], snapshot: Snapshot): ReadonlySet<MachineFacts> {
  const { nowMs, freshSinceMs } = snapshot;
  const groups = new Map<string, Assigned[]>();
  for (const each of assigned) {
    const key = each.place.group ?? each.machine.uid;
    const members = groups.get(key) ?? [];
    members.push(each);
    groups.set(key, members);
  }
  const firsts = [...groups.values()].map((members) => {
    if (!mayFail(members.map(({ machine }) => machine))) return undefined;
    const due = members.filter(({ machine, node, place }) => {
      const limits = { mayFail: true, isFencedToKeep: false, healthTimeoutMs: healthTimeoutOf(place, snapshot), freshSinceMs };
      return machine.phase === 'Unknown' && nextPhase(machine, node, nowMs, limits).phase === 'Failed';
    });
    const [first] = due
      .map(({ machine }) => machine)
      .sort((one, other) => (one.phaseSinceMs ?? 0) - (other.phaseSinceMs ?? 0) || (one.name < other.name ? -1 : 1));
    return first;
  });
  return new Set(firsts.filter((machine) => machine !== undefined));
}

const NAMED_MAX = 3;

/** Its time is over, and others of its group are being replaced, one at a time as MCM does it: it waits for them, which may be for ever. */
function turnsAwaited(assigned: readonly Assigned[], { uid }: MachineFacts, { group }: Place): string | undefined {
  const others = assigned.filter(({ machine, place }) => place.group === group && group !== undefined && machine.uid !== uid);
  const names = others
    .filter(({ machine }) => replacementsIn([machine]) > 0)
    .map(({ machine }) => `${machine.name} (${machine.phase || 'no phase'})`);
  if (names.length === 0) return undefined;
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  return `its node is not healthy, and it is not Failed before others of its group are Running or gone: ${names.slice(0, NAMED_MAX).join(', ')}${more}`;
}

/** A Node that somebody has deleted went at once, for nothing of ours holds it: nobody says whether its machine runs, and it is not sent off on that. */
function unjudged({ phase, nodeName }: MachineFacts): string | undefined {
  if (nodeName === undefined || (phase !== 'Running' && phase !== 'Unknown')) return undefined;
  return `node "${nodeName}" not found, so it stays ${phase}: delete the Machine if it is to go with its Node`;
}

/**
 * Under an open fence those fail at once that will be preserved: who asked for it, and the newest of the others as far as there are places. The rest
 * keeps the time that MCM gives it, for its fence may bring it back.
 */
function fencedToKeep(assigned: readonly Assigned[], pools: Pools): ReadonlySet<MachineFacts> {
  const free = new Map(pools.shares());
  const kept = new Set<MachineFacts>();
  const waiting: [MachineFacts, string][] = [];
  const take = (group: string): number => {
    const left = (free.get(group) ?? 0) - 1;
    free.set(group, left);
    return left;
  };
  for (const { machine, node, place } of assigned) {
    const { group } = place;
    const value = effectiveValue(readMarks(machine.annotations, node?.annotations, node?.uid), node !== undefined);
    if (value === 'automatic' && group !== undefined) take(group);
    if (!isFenced(node) || machine.isDeleting || pools.overrideOf(machine) !== undefined) continue;
    if (value === 'now' || value === 'when-failed' || value === 'automatic') kept.add(machine);
    else if (value === 'none' && group !== undefined) waiting.push([machine, group]);
  }
  waiting.sort(([one], [other]) => other.createdMs - one.createdMs || (one.name < other.name ? -1 : 1));
  for (const [machine, group] of waiting) if (take(group) >= 0) kept.add(machine);
  return kept;
}

/** The subjects of the snapshot with their phases; in own mode with the phases that must be written. */
export function classify(snapshot: Snapshot, pools: Pools): { classified: Classified[]; problems: string[] } {
  const { nowMs, freshSinceMs, mode } = snapshot;
  const { assigned, plain, disputed } = assign(snapshot, pools);
  const able = failing(assigned, snapshot);
  const kept = fencedToKeep(assigned, pools);
  const backed = assigned.map(({ machine, node, place }): Classified => {
    const limits = { mayFail: able.has(machine), isFencedToKeep: kept.has(machine), healthTimeoutMs: healthTimeoutOf(place, snapshot), freshSinceMs };
    const isOurs = mode === 'own' && !machine.isDeleting;
    const { phase, dueMs }: NextPhase = isOurs ? nextPhase(machine, node, nowMs, limits) : { phase: machine.phase };
    const transition = phase === machine.phase ? undefined : phaseTransition(machine, phase);
    const subject = machineSubject(machine, node, phase, place);
    const isWaiting = isOurs && phase === 'Unknown' && transition === undefined && dueMs === undefined;
    const turn = isWaiting ? turnsAwaited(assigned, machine, place) : undefined;
    const problem = turn ?? (isOurs && node === undefined ? unjudged(machine) : undefined);
    return { subject: problem === undefined ? subject : { problem, ...subject }, transition, dueMs };
  });
  const alone = plain.flatMap(({ node, place }): Classified[] => {
    const { phase, dueMs } = plainPhase(node, nowMs, healthTimeoutOf(place, snapshot), freshSinceMs);
    const subject = plainSubject(node, phase, place);
    return concerns(subject, node) ? [{ subject, dueMs }] : [];
  });
  const problems = disputed.map(
    ({ machine, owner }) => `Machine ${machine.namespace}/${machine.name} names the node of the newer ${owner.name}: nothing is done about it`,
  );
  return { classified: [...backed, ...alone], problems };
}

function phaseTransition(machine: MachineFacts, phase: Subject['phase']): Action {
  const was = { phase: machine.phase, expiryMs: machine.expiryMs };
  const isBad = phase === 'Failed';
  const message = `phase ${machine.phase || 'unknown'} → ${phase}`;
  const event = { type: isBad ? 'Warning' : 'Normal', reason: `Machine${phase}`, message } as const;
  return { kind: 'machine-status', target: machineRef(machine), was, to: { ...was, phase }, event };
}
