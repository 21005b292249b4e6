import type { Action, Change } from './actions.ts';
import { CORDON_MARK, PRESERVED_TAINT, SCALE_DOWN_BEFORE, SCALE_DOWN_DISABLED, SCALE_DOWN_MARKER } from './names.ts';
import type { Marks, NodeFacts } from './snapshot.ts';
import { nodeRef } from './subject.ts';

/** Only what differs. */
export function changed(marks: Marks, wanted: Readonly<Record<string, string | undefined>>): Change[] {
  return Object.entries(wanted)
    .map(([key, to]) => ({ key, was: marks[key], to }))
    .filter(({ was, to }) => was !== to);
}

/**
 * Keeps the autoscaler away. A `true` of somebody else stays his; what else stood there is remembered, and a `true` of ours that was turned is
 * turned back.
 */
export function shielded(marks: Marks): Change[] {
  if (marks[SCALE_DOWN_DISABLED] === 'true') return [];
  const isOurs = marks[SCALE_DOWN_MARKER] !== undefined;
  const before = isOurs ? marks[SCALE_DOWN_BEFORE] : marks[SCALE_DOWN_DISABLED];
  return changed(marks, { [SCALE_DOWN_DISABLED]: 'true', [SCALE_DOWN_MARKER]: 'true', [SCALE_DOWN_BEFORE]: before });
}

/** Takes away what is ours and puts back what stood there before. */
export function unshielded(marks: Marks): Change[] {
  const before = marks[SCALE_DOWN_BEFORE];
  if (marks[SCALE_DOWN_MARKER] === undefined) return changed(marks, { [SCALE_DOWN_BEFORE]: undefined });
  return changed(marks, { [SCALE_DOWN_DISABLED]: before, [SCALE_DOWN_MARKER]: undefined, [SCALE_DOWN_BEFORE]: undefined });
}

export function tainted(node: NodeFacts, isPresent: boolean): Action[] {
  if (node.taints.includes(PRESERVED_TAINT) === isPresent) return [];
  return [{ kind: 'taint', target: nodeRef(node), isPresent }];
}

export function isCordonedByUs(node: NodeFacts): boolean {
  return node.annotations[CORDON_MARK] !== undefined;
}

/** A cordon without our mark is somebody else's: it is neither taken over nor taken back. */
export function cordoned(node: NodeFacts): Action[] {
  return node.isUnschedulable ? [] : [{ kind: 'cordon', target: nodeRef(node), isCordoned: true }];
}

export function uncordoned(node: NodeFacts): Action[] {
  if (!isCordonedByUs(node)) return [];
  const event = { type: 'Normal', reason: 'PreservedNodeUncordoned', message: `node ${node.name} takes pods again` } as const;
  return [{ kind: 'cordon', target: nodeRef(node), isCordoned: false, event }];
}

/** One write, or none. */
export function annotated(node: NodeFacts, changes: readonly Change[]): Action[] {
  return changes.length === 0 ? [] : [{ kind: 'annotate', target: nodeRef(node), changes }];
}
