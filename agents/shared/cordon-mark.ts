import { AUTOSCALER_MARK, fenceName, SCALE_DOWN_DISABLED } from '../../src/domain/node-fence.ts';
import type { Node } from '../../src/ports/objects.ts';
import { CORDON_BY_PRESERVATION } from '../../src/ports/preservation.ts';
import { CORDON_BY_REMEDY } from '../../src/ports/remedies.ts';

export function isCordoned(node: Node): boolean {
  return node.spec.unschedulable === true;
}

/** What keeps the autoscaler from a node while it is fenced: set together with the cordon, where nobody else has said anything. */
export function autoscalerKeptAway(node: Node): Record<string, string> {
  if (node.metadata.annotations?.[SCALE_DOWN_DISABLED] !== undefined) return {};
  return { [SCALE_DOWN_DISABLED]: 'true', [AUTOSCALER_MARK]: fenceName(node.metadata.name) };
}

/** Whose cordon it is that no fence has set, in words. */
export function cordonerOf({ metadata: { annotations = {} } }: Node): string {
  if (annotations[CORDON_BY_PRESERVATION] !== undefined) return 'preservation';
  return annotations[CORDON_BY_REMEDY] === undefined ? 'somebody else' : 'a remedy';
}
