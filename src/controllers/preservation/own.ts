import type { Action, ActionEvent } from './actions.ts';
import { automaticMarks } from './automatic-marks.ts';
import { syncedMarks } from './marks.ts';
import type { PreserveMarks } from './marks.ts';
import { LAST_APPLIED, NODE_ENDED, NODE_EXPIRY, PRESERVE, TAKEN_FROM } from './names.ts';
import { annotated, changed } from './node-marks.ts';
import type { Pools } from './pools.ts';
import { preserve, startExpiry } from './preserve.ts';
import type { Step } from './preserve.ts';
import { selectSurplus } from './scale-down.ts';
import type { FenceFacts, MachineFacts, NodeFacts, Snapshot } from './snapshot.ts';
import { stop, stopUnderFence, STOP_WORDS } from './stop.ts';
import { machineRef } from './subject.ts';
import type { Subject } from './subject.ts';
import type { Classified } from './classify.ts';
import { sendOff, terminate, terminateFailed } from './terminate.ts';
import { decidePreserve } from './preserve-decision.ts';
import type { StopReason } from './preserve-decision.ts';

/** MCM's part, one step for each subject. What is being deleted is left to go. */
export function own(snapshot: Snapshot, pools: Pools, classified: readonly Classified[], shares: ReadonlyMap<string, number>): Step[] {
  const surplus = surplusOf(snapshot, classified);
  const automatic = automaticMarks(snapshot, classified, pools, shares, surplus);
  return classified.map((each): Step => {
    const { subject, transition } = each;
    const { machine, node } = subject;
    if (machine?.isDeleting === true || (machine === undefined && node?.isDeleting === true)) return { actions: [] };
    if (machine !== undefined && surplus.has(machine)) {
      return { actions: [{ ...sendOff(machine, 'SurplusMachineTerminated', 'its MachineSet wants fewer replicas'), isSurplus: true }] };
    }
    if (machine !== undefined && node?.isDeleting === true && machine.phase !== 'Terminating') {
      return { actions: [sendOff(machine, 'NodeDeleted', `node ${node.name} is being deleted, preserved or not`)] };
    }
    if (transition !== undefined) return { actions: [transition] };
    const marked = automatic.get(subject);
    if (marked !== undefined) return { actions: marked };
    return settle(snapshot, pools, subject);
  });
}

/** What this subject needs by its own marks. */
function settle(snapshot: Snapshot, pools: Pools, subject: Subject): Step {
  const { nowMs } = snapshot;
  const settings = subject.pool === undefined ? undefined : snapshot.pools.get(subject.pool);
  const { value, phase, expiryMs, node, machine } = subject;
  const decision = decidePreserve({ value, phase, expiryMs, nowMs, override: pools.overrideOf(machine) });
  // The node belongs to its fence; only the bound of the hold is written, or cleared, and whose word counts: else one on the Machine that comes later is not heard.
  if (node?.fence?.isOpen === true) {
    const step: Step =
      decision.kind === 'preserve' ? { actions: startExpiry(subject, settings, nowMs).actions } : fencedStep(subject, node, node.fence, decision.why);
    return { ...step, actions: [...step.actions, ...synced(subject)] };
  }
  if (decision.kind === 'preserve') {
    const step = preserve(subject, settings, nowMs);
    return { ...step, actions: [...step.actions, ...healed(subject), ...synced(subject)] };
  }
  const sync = decision.forgets ? [] : synced(subject);
  const actions = [...stop(subject, decision), ...sync, ...healed(subject)];
  if (actions.length > 0 || machine === undefined) return { actions };
  if (phase === 'Failed') return terminateFailed(subject, machine, nowMs);
  return phase === 'Terminating' ? terminate(subject, machine, nowMs) : { actions: [] };
}

/** Nobody keeps it any more but its fence: while that is open nothing else ends the machine, and one that has failed may stay open for ever. */
function fencedStep(subject: Subject, node: NodeFacts, { hasFailed }: FenceFacts, why: StopReason): Step {
  const { phase, expiryMs } = subject;
  const actions = stopUnderFence(subject, why);
  const isToEnd = phase === 'Failed' || phase === 'Terminating' || (expiryMs !== undefined && actions.length === 0);
  if (hasFailed !== true || !isToEnd) return { actions };
  const problem =
    `the fence of node ${node.name} has ended in error, and keeps it although ${STOP_WORDS[why]}: see nodefence explain ${node.name}; ` +
    `mend the machine, or acknowledge with nodefence ack ${node.name} once it is surely off`;
  return { actions, problem, isForPeople: true };
}

/** A Node without a Machine that is healthy may be preserved automatically again; an expiry that nobody can read goes. */
function healed({ machine, node, phase, expiryMs, value }: Subject): Action[] {
  if (machine !== undefined || node === undefined) return [];
  const end = phase === 'Running' ? { [NODE_ENDED]: undefined } : {};
  const isSpoilt = expiryMs === undefined && value === 'none';
  return annotated(node, changed(node.annotations, { ...end, ...(isSpoilt && { [NODE_EXPIRY]: undefined }) }));
}

/** The node's word is the machine's. */
function synced(subject: Subject): Action[] {
  const { machine, node, marks } = subject;
  if (machine === undefined) return [];
  const to = syncedMarks(marks, node !== undefined);
  const changes = changed(machine.annotations, { [PRESERVE]: to.machine, [LAST_APPLIED]: to.lastApplied, [TAKEN_FROM]: takenFrom(subject, to) });
  const event = to.machine === undefined ? lostWord(marks) : keptWord(subject, to);
  return changes.length === 0 ? [] : [{ kind: 'annotate', target: machineRef(machine), changes, ...(event !== undefined && { event }) }];
}

/** What stands on the Node now was taken from this one. */
function takenFrom({ machine, node, marks }: Subject, { lastApplied }: Pick<PreserveMarks, 'lastApplied'>): string | undefined {
  if (lastApplied === undefined) return undefined;
  return node !== undefined && marks.node === lastApplied ? node.uid : machine?.annotations[TAKEN_FROM];
}

function keptWord({ node, marks }: Subject, to: Pick<PreserveMarks, 'machine'>): ActionEvent | undefined {
  if (marks.machine !== undefined || to.machine === undefined) return undefined;
  const message = `node ${node?.name ?? ''} was made anew without ${PRESERVE}: ${to.machine} of the one before stands on the Machine now; to stop, remove it there`;
  return { type: 'Normal', reason: 'PreserveAnnotationKept', message };
}

/** Whoever annotated the Machine is told that it counts for nothing: he may have come last, which nobody can tell who did not look in between. */
function lostWord({ machine = '', node, lastApplied = '' }: PreserveMarks): ActionEvent | undefined {
  if (machine === '') return undefined;
  const lost = `${PRESERVE}=${machine.slice(0, 64)} of the Machine is removed`;
  const reason = 'PreserveAnnotationRemoved';
  if (node !== undefined) return { type: 'Normal', reason, message: `${lost}, for that of its Node counts: "${node}"` };
  const message = `${lost} with that of its Node (${lastApplied.slice(0, 64)}), beside which it counted for nothing; if it was meant to come after that, annotate once more`;
  return { type: 'Warning', reason, message };
}

/** More machines than replicas: those go that are missed least. */
function surplusOf(snapshot: Snapshot, classified: readonly Classified[]): ReadonlySet<MachineFacts> {
  const bySet = new Map<string, (MachineFacts & { value: Subject['value']; source: MachineFacts })[]>();
  for (const { subject } of classified) {
    const { machine, phase, value } = subject;
    if (machine?.machineSet === undefined || machine.isDeleting || machine.phase === 'Terminating') continue;
    const key = `${machine.namespace}/${machine.machineSet}`;
    const members = bySet.get(key) ?? [];
    members.push({ ...machine, phase, value, source: machine });
    bySet.set(key, members);
  }
  const found = new Set<MachineFacts>();
  for (const set of snapshot.machineSets) {
    const members = bySet.get(`${set.namespace}/${set.name}`) ?? [];
    if (set.replicas === undefined) continue;
    for (const { source } of selectSurplus(members, members.length - set.replicas, snapshot.nowMs)) found.add(source);
  }
  return found;
}
