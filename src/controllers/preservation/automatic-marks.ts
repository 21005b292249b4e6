import type { Action, ActionEvent } from './actions.ts';
import { planAutomatic } from './automatic.ts';
import type { Member } from './automatic.ts';
import { isKnownValue } from './marks.ts';
import { NODE_ENDED, PRESERVE } from './names.ts';
import { annotated, changed } from './node-marks.ts';
import type { Pools } from './pools.ts';
import type { MachineFacts, Snapshot } from './snapshot.ts';
import { forgotten } from './stop.ts';
import { machineRef, nodeRef, subjectName } from './subject.ts';
import type { Subject } from './subject.ts';
import type { Classified } from './classify.ts';

interface Counted extends Member {
  subject: Subject;
}

/** Who gets, and who loses, the automatic annotation. */
export function automaticMarks(
  snapshot: Snapshot,
  classified: readonly Classified[],
  pools: Pools,
  shares: ReadonlyMap<string, number>,
  surplus: ReadonlySet<MachineFacts>,
): ReadonlyMap<Subject, Action[]> {
  const groups = new Map<string, Counted[]>();
  for (const { subject, transition } of classified) {
    const { machine, node, group, value } = subject;
    const isGoing = machine === undefined ? node?.isDeleting === true : machine.isDeleting || surplus.has(machine) || subject.phase === 'Terminating';
    if (group === undefined || isGoing) continue;
    const isCandidate = transition === undefined && isCandidateFor(subject) && pools.overrideOf(machine) === undefined;
    const members = groups.get(group) ?? [];
    members.push({ name: subjectName(subject), createdMs: (machine ?? node)?.createdMs ?? 0, isTaken: value === 'automatic', isCandidate, subject });
    groups.set(group, members);
  }
  const found = new Map<Subject, Action[]>();
  for (const [group, members] of groups) {
    const taken = members.filter(({ isTaken }) => isTaken).length;
    const plan = planAutomatic(shares.get(group) ?? 0, taken, members);
    for (const { subject } of plan.preserve) found.set(subject, marked(subject, snapshot.spelling));
    for (const { subject } of plan.release) found.set(subject, released(subject));
  }
  return found;
}

/** Failed, nobody has said anything about it, no preservation of it is being ended. */
function isCandidateFor({ machine, node, marks, value, phase, expiryMs }: Subject): boolean {
  if (phase !== 'Failed' || value !== 'none' || expiryMs !== undefined) return false;
  if (machine === undefined) return node?.annotations[NODE_ENDED] === undefined;
  return node?.isDeleting !== true && ((marks.lastApplied ?? '') === '' || marks.node !== undefined);
}

/** The annotation is written where it counts: on the Machine, except where an empty one on its Node, or the lack of a Machine, would outweigh it. */
function marked({ machine, node, marks }: Subject, to: string): Action[] {
  const isOnNode = machine === undefined || (marks.node !== undefined && isKnownValue(marks.node));
  const event: ActionEvent = { type: 'Normal', reason: 'AutoPreserved', message: 'the machine failed, and its pool has a place free' };
  if (!isOnNode) return [{ kind: 'annotate', target: machineRef(machine), changes: [{ key: PRESERVE, was: marks.machine, to }], event }];
  return node === undefined ? [] : [{ kind: 'annotate', target: nodeRef(node), changes: [{ key: PRESERVE, was: marks.node, to }], event }];
}

/** Wherever it stands, on the Node, on the Machine or as what was last taken from the Node; a value that nobody knows stays where it is. */
function released({ machine, node, marks }: Subject): Action[] {
  const isOnNode = marks.node !== undefined && isKnownValue(marks.node);
  const actions = [
    ...(node !== undefined && isOnNode ? annotated(node, changed(node.annotations, { [PRESERVE]: undefined })) : []),
    ...(machine === undefined ? [] : forgotten(machine)),
  ];
  const event: ActionEvent = {
    type: 'Normal',
    reason: 'AutoPreservationReleased',
    message: 'more are preserved than the pool allows; the oldest go first',
  };
  return actions.map((action, index) => (index === 0 ? { ...action, event } : action));
}
