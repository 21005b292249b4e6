import { fenceName } from '../../src/domain/node-fence.ts';
import type { Node } from '../../src/ports/objects.ts';

/** Annotation that says which fence cordoned the Node; without it a cordon is somebody else's (P8). */
export const CORDON_MARK = 'nodefence.ha.k8s.io/cordoned-by';

export function isCordoned(node: Node): boolean {
  return node.spec.unschedulable === true;
}

/** The Node carries our mark for its own fence. */
export function isMarkedByUs(node: Node): boolean {
  return node.metadata.annotations?.[CORDON_MARK] === fenceName(node.metadata.name);
}
