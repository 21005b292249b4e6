import { LAST_APPLIED, PRESERVE, TAKEN_FROM } from './names.ts';
import type { Marks } from './snapshot.ts';

/** What the annotations ask for. `none`: nothing, whether absent, empty or unknown. */
export type PreserveValue = 'none' | 'false' | 'now' | 'when-failed' | 'automatic';

const VALUES: ReadonlyMap<string, PreserveValue> = new Map([
  ['', 'none'],
  ['false', 'false'],
  ['now', 'now'],
  ['when-failed', 'when-failed'],
  ['auto-preserve', 'automatic'],
  ['auto-preserved', 'automatic'],
]);

/** Nobody knows what a misspelt value wants. */
export function isKnownValue(value: string): boolean {
  return VALUES.has(value);
}

export interface PreserveMarks {
  /** undefined: absent. */
  machine: string | undefined;
  node: string | undefined;
  lastApplied: string | undefined;
  /** That was taken from a Node which is gone: this one was made anew under its name. */
  isOfAnother?: true;
}

/** What both say. `nodeUid`: absent where it does not matter whether the Node was made anew. */
export function readMarks(machine: Marks | undefined, node: Marks | undefined, nodeUid?: string): PreserveMarks {
  const takenFrom = machine?.[TAKEN_FROM];
  const isOfAnother = nodeUid !== undefined && takenFrom !== undefined && takenFrom !== nodeUid;
  return { machine: machine?.[PRESERVE], node: node?.[PRESERVE], lastApplied: machine?.[LAST_APPLIED], ...(isOfAnother && { isOfAnother }) };
}

/**
 * Whose word counts. The node's, even when it is empty; when it was there and has been removed, nobody's; else the machine's.
 * A node that is gone says nothing, not even that its annotation was removed: what was last taken from it goes on, unless the machine has a word of its own.
 * Neither does one that was made anew since, and has no word: a kubelet that registers again knows of none.
 */
export function effectiveText(marks: PreserveMarks, hasNode: boolean): string {
  if (marks.node !== undefined) return marks.node;
  if (!hasNode || marks.isOfAnother === true) return marks.machine ?? marks.lastApplied ?? '';
  if ((marks.lastApplied ?? '') !== '') return '';
  return marks.machine ?? '';
}

/** Says the value on the node nothing that is known? Then what was last taken from it goes on: a slip of the pen must not release a machine. */
function corrected(marks: PreserveMarks): PreserveMarks {
  if (marks.node === undefined || isKnownValue(marks.node)) return marks;
  const last = marks.lastApplied;
  const isWord = last !== undefined && last !== '' && isKnownValue(last);
  return { ...marks, node: isWord ? last : undefined, lastApplied: isWord ? last : undefined };
}

/** Which of the two annotations counts, that of the Node or that of the Machine: docs/preservation.md. */
export function effectiveValue(marks: PreserveMarks, hasNode: boolean): PreserveValue {
  return VALUES.get(effectiveText(corrected(marks), hasNode)) ?? 'none';
}

/** Has anybody asked for anything, or is it preserved? */
export function isBound(marks: PreserveMarks, expiryMs: number | undefined): boolean {
  const isTaken = (marks.lastApplied ?? '') !== '';
  return expiryMs !== undefined || marks.machine !== undefined || marks.node !== undefined || isTaken;
}

/** The machine's two annotations as they must be beside what stands on the node: its own goes, the node's is remembered. */
export function syncedMarks(marks: PreserveMarks, hasNode: boolean): Pick<PreserveMarks, 'machine' | 'lastApplied'> {
  const { machine, node, lastApplied } = marks;
  // A word of its own that comes when the node is gone is the later one, and stays the only one when it is taken away.
  if (!hasNode) return { machine, lastApplied: machine === undefined ? lastApplied : undefined };
  if (node !== undefined && isKnownValue(node)) return { machine: undefined, lastApplied: node === '' ? undefined : node };
  if (node !== undefined) return { machine, lastApplied };
  if (marks.isOfAnother === true) return { machine: machine ?? (lastApplied === '' ? undefined : lastApplied), lastApplied: undefined };
  return lastApplied === undefined ? { machine, lastApplied } : { machine: lastApplied === '' ? machine : undefined, lastApplied: undefined };
}
