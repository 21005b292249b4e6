import { isCordonOfAnother } from '../domain/cordon-of-another.ts';
import { CORDON_MARK } from '../domain/node-fence.ts';
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
