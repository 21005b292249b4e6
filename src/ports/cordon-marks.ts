import { isCordonOfAnother } from '../domain/cordon-of-another.ts';
import { AUTOSCALER_MARK, CORDON_MARK, fenceName, SCALE_DOWN_DISABLED } from '../domain/node-fence.ts';
import type { Node } from './objects.ts';
import { CORDON_BY_PRESERVATION } from './preservation.ts';
import { CORDON_BY_REMEDY } from './remedies.ts';

/** Annotations that say who of ours cordoned a Node: a fence, preservation, a remedy. */
const CORDON_MARKS = [CORDON_MARK, CORDON_BY_PRESERVATION, CORDON_BY_REMEDY];

/** Whoever takes its own mark away leaves the cordon: it is somebody else's, or another mark of ours stands beside it, set after a person had uncordoned. */
export function isCordonKept(node: Node, mark: string): boolean {
  const { annotations = {} } = node.metadata;
  return isCordonOfAnother(node, mark) || CORDON_MARKS.some((other) => other !== mark && annotations[other] !== undefined);
}

/** The Node carries our mark for its own fence. */
export function isMarkedByUs(node: Node): boolean {
  return node.metadata.annotations?.[CORDON_MARK] === fenceName(node.metadata.name);
}

/** What takes back all that the cordon of a fence has set, and nothing else; `undefined`: nothing of it stands. */
export function cordonTakenBack(node: Node): { annotations: Record<string, null>; spec?: { unschedulable: null } } | undefined {
  const annotations = autoscalerLetBack(node);
  if (!isMarkedByUs(node)) return Object.keys(annotations).length === 0 ? undefined : { annotations };
  const unmarked = { ...annotations, [CORDON_MARK]: null };
  return isCordonKept(node, CORDON_MARK) ? { annotations: unmarked } : { annotations: unmarked, spec: { unschedulable: null } };
}

/** The autoscaler is let back where it is ours to do, and still as we left it. */
export function autoscalerLetBack(node: Node): Record<string, null> {
  const annotations = node.metadata.annotations ?? {};
  if (annotations[AUTOSCALER_MARK] === undefined) return {};
  return { [AUTOSCALER_MARK]: null, ...(annotations[SCALE_DOWN_DISABLED] === 'true' ? { [SCALE_DOWN_DISABLED]: null } : {}) };
}
