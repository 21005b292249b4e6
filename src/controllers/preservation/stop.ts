import type { Action } from './actions.ts';
import { claimsPreserved, stoppedCondition } from './condition.ts';
import { LAST_APPLIED, NODE_ENDED, NODE_EXPIRY, PRESERVE, TAKEN_FROM } from './names.ts';
import { annotated, changed, tainted, uncordoned, unshielded } from './node-marks.ts';
import type { MachineFacts, MachinePhase, NodeFacts } from './snapshot.ts';
import { machineRef, nodeRef } from './subject.ts';
import type { Subject } from './subject.ts';
import type { StopReason, PreserveDecision } from './preserve-decision.ts';

/** Why nobody keeps it any more, in words. */
export const STOP_WORDS: Readonly<Record<StopReason, string>> = {
  terminating: 'the machine is being terminated',
  hibernated: 'the cluster is hibernated',
  rolling: 'a rolling update replaces failed machines',
  unasked: 'nothing requests it any more',
  refused: 'it was annotated with false',
  expired: 'its time is over',
  recovered: 'the machine runs, and is to be kept only once it fails',
};

/** Condition, annotations, taint, cordon; expiry last: as long as it stands an unfinished stop is found again. Whatever is already as it must be is left. */
export function stop(subject: Subject, decision: Extract<PreserveDecision, { kind: 'stop' }>): Action[] {
  const { machine, node } = subject;
  const nodeActions = node === undefined ? [] : stopOnNode(subject, node, decision.forgets);
  const machineActions = machine !== undefined && decision.forgets ? forgotten(machine) : [];
  return [...nodeActions, ...machineActions, ...ended(subject, decision.why, GOES.has(decision.why))];
}

function stopOnNode(subject: Subject, node: NodeFacts, forgets: boolean): Action[] {
  const actions: Action[] = [];
  const to = stoppedCondition();
  const isActive = subject.expiryMs !== undefined && (node.preserved === undefined || claimsPreserved(node.preserved));
  if (isActive || claimsPreserved(node.preserved)) {
    actions.push({ kind: 'condition', target: nodeRef(node), was: node.preserved, to });
  }
  const own = forgets ? changed(node.annotations, { [PRESERVE]: undefined }) : [];
  actions.push(...annotated(node, [...unshielded(node.annotations), ...own]), ...tainted(node, false));
  if (subject.phase === 'Running') actions.push(...uncordoned(node));
  return actions;
}

/** The Machine's own annotation goes, and what was last taken from its Node. */
export function forgotten(machine: MachineFacts): Action[] {
  const changes = changed(machine.annotations, { [PRESERVE]: undefined, [LAST_APPLIED]: undefined, [TAKEN_FROM]: undefined });
  return changes.length === 0 ? [] : [{ kind: 'annotate', target: machineRef(machine), changes }];
}

/** Why a Failed machine goes at once. After a mere removal of the annotation it may be preserved automatically, so that is left to the next look. */
const GOES: ReadonlySet<StopReason> = new Set(['expired', 'refused', 'rolling', 'hibernated']);

/** What is over under an open fence too. A time that is over is left: the word of it still stands on the Node, which would begin another, or a place of the pool would. */
const OVER_UNDER_FENCE: ReadonlySet<StopReason> = new Set(['unasked', 'refused', 'recovered']);

/** The machine goes nowhere before its fence is over; but the old end goes, or who asks anew is bound by it. */
export function stopUnderFence(subject: Subject, why: StopReason): Action[] {
  return OVER_UNDER_FENCE.has(why) ? ended(subject, why, subject.machine === undefined && GOES.has(why)) : [];
}

/** Clears the expiry, and in the same write sends a Failed machine that `goes` to Terminating: between the two it would be preserved again. */
function ended(subject: Subject, why: StopReason, goes: boolean): Action[] {
  const { machine, node, expiryMs } = subject;
  if (expiryMs === undefined) return [];
  const event = { type: 'Normal', reason: 'PreservationStopped', message: `preservation stopped: ${STOP_WORDS[why]}` } as const;
  const isFailed = subject.phase === 'Failed';
  if (machine !== undefined) {
    const phase: MachinePhase = isFailed && goes ? 'Terminating' : machine.phase;
    const was = { phase: machine.phase, expiryMs };
    return [{ kind: 'machine-status', target: machineRef(machine), was, to: { phase, expiryMs: undefined }, event }];
  }
  if (node === undefined) return [];
  const end = isFailed && goes ? { [NODE_ENDED]: 'true' } : {};
  return [{ kind: 'annotate', target: nodeRef(node), changes: changed(node.annotations, { [NODE_EXPIRY]: undefined, ...end }), event }];
}
