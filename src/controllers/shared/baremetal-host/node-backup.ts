import { CORDON_MARK } from '../../../domain/node-fence.ts';
import { GROUP } from '../../../ports/resources.ts';
import { changesTo } from '../remediation/actions.ts';
import type { ActionEvent, Change, Marks, ObjectRef } from '../remediation/actions.ts';
import { nodeRef } from '../remediation/node.ts';
import type { NodeFacts } from '../remediation/node.ts';

/** JSON maps on the Machine or the remediation, the names that Metal3 gave them. */
export const ANNOTATIONS_BACKUP = 'remediation.metal3.io/node-annotations-backup';
export const LABELS_BACKUP = 'remediation.metal3.io/node-labels-backup';
/** Beside them: the Node was cordoned, and not by a fence of ours. */
export const CORDON_BACKUP = `${GROUP}/node-cordoned`;
const BACKUPS = [ANNOTATIONS_BACKUP, LABELS_BACKUP, CORDON_BACKUP] as const;

/** One write: only keys that are missing, and the cordon. */
export interface RestoreNode {
  kind: 'restore-node';
  target: ObjectRef;
  labels: readonly Change[];
  annotations: readonly Change[];
  isCordoned?: true;
  event: ActionEvent;
}

/** Marks that tell of the old object alone: the new one is not cordoned by us. */
const OF_THE_OLD_NODE: ReadonlySet<string> = new Set([CORDON_MARK]);

/** `''` for no map at all; keys sorted, so that the same marks give the same text. */
export function marshal(marks: Marks | undefined): string {
  if (marks === undefined) return '';
  const kept = Object.entries(marks).filter(([key]) => !OF_THE_OLD_NODE.has(key));
  return JSON.stringify(Object.fromEntries(kept.sort(([one], [other]) => (one < other ? -1 : 1))));
}

const REPORTED_MAX = 256;

/** What a garbled backup holds is not put back; see lostEvent. */
export function unmarshal(text: string | undefined): Marks {
  try {
    const parsed: unknown = JSON.parse(text ?? '');
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return {};
    return Object.fromEntries(Object.entries(parsed).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  } catch {
    return {};
  }
}

/** Goes with the write that drops a backup, or writes over it: what of it nobody can read is told, for a person may. */
export function lostEvent(keeper: Marks): ActionEvent | undefined {
  const lost = [ANNOTATIONS_BACKUP, LABELS_BACKUP].flatMap((key) => {
    const text = keeper[key] ?? '';
    return text === '' || isReadable(text) ? [] : [`${key} can not be read, and what it kept is not put back: ${text.slice(0, REPORTED_MAX)}`];
  });
  return lost.length === 0 ? undefined : { type: 'Warning', reason: 'NodeNotRestored', message: lost.join('; ') };
}

function isReadable(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    const isMap = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    return isMap && Object.values(parsed).every((value) => typeof value === 'string');
  } catch {
    return false;
  }
}

/** What must be written on the keeper before the Node goes; empty: it stands there. What is kept since an earlier Node did not come back stays kept. */
export function backupChanges(keeper: Marks, node: Pick<NodeFacts, 'labels' | 'annotations' | 'isUnschedulable'>): Change[] {
  const annotations = { ...unmarshal(keeper[ANNOTATIONS_BACKUP]), ...node.annotations };
  const labels = { ...unmarshal(keeper[LABELS_BACKUP]), ...node.labels };
  const isCordoned = keeper[CORDON_BACKUP] !== undefined || isCordonedByOthers(node);
  return [...writeBackup(keeper, marshal(annotations), marshal(labels)), ...changesTo(keeper, isCordoned ? { [CORDON_BACKUP]: 'true' } : {})];
}

/** What Metal3 keeps; undefined removes it. */
export function writeBackup(keeper: Marks, annotations: string | undefined, labels: string | undefined): Change[] {
  return changesTo(keeper, { [ANNOTATIONS_BACKUP]: annotations, [LABELS_BACKUP]: labels });
}

/** The cordon of a fence goes with the Node; that of anybody else is not ours to take back. */
function isCordonedByOthers({ isUnschedulable, annotations }: Pick<NodeFacts, 'annotations' | 'isUnschedulable'>): boolean {
  return isUnschedulable === true && annotations[CORDON_MARK] === undefined;
}

export function dropBackup(keeper: Marks): Change[] {
  return [...writeBackup(keeper, undefined, undefined), ...changesTo(keeper, { [CORDON_BACKUP]: undefined })];
}

export function hasBackup(keeper: Marks): boolean {
  return BACKUPS.some((key) => keeper[key] !== undefined);
}

/** Puts back what the new Node lacks: what it has by itself is newer. `undefined`: it lacks nothing. */
export function restoreNode(keeper: Marks, node: NodeFacts): RestoreNode | undefined {
  const annotations = changesTo(node.annotations, missing(unmarshal(keeper[ANNOTATIONS_BACKUP]), node.annotations));
  const labels = changesTo(node.labels, missing(unmarshal(keeper[LABELS_BACKUP]), node.labels));
  const isCordoned = keeper[CORDON_BACKUP] !== undefined && node.isUnschedulable !== true;
  if (annotations.length === 0 && labels.length === 0 && !isCordoned) return undefined;
  const also = isCordoned ? ', and it is cordoned as it was' : '';
  const event: ActionEvent = { type: 'Normal', reason: 'NodeRestored', message: `labels and annotations of node ${node.name} are back${also}` };
  return { kind: 'restore-node', target: nodeRef(node), labels, annotations, ...(isCordoned && { isCordoned }), event };
}

function missing(backup: Marks, own: Marks): Marks {
  return Object.fromEntries(Object.entries(backup).filter(([key]) => own[key] === undefined && !OF_THE_OLD_NODE.has(key)));
}
