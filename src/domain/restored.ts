import type { NodeFenceSpec, NodeFenceStatus } from './node-fence.ts';

/** Annotation of a NodeFence: its own uid, written before a request is taken up. A backup carries it into another object. */
export const TAKEN_UP_AS = 'nodefence.ha.k8s.io/taken-up-as';
/** Velero labels all that it restores. */
const RESTORED_LABEL = 'velero.io/restore-name';

/** What of a NodeFence tells whose record it carries. */
export interface FenceObject {
  metadata: { uid?: string | undefined; annotations?: Record<string, string>; labels?: Record<string, string> };
  spec: NodeFenceSpec;
  status?: NodeFenceStatus | undefined;
}

/**
 * The object was made from a backup, or a status was written over it that is not its own: what it says was done to another NodeFence, at another time. No proof,
 * no request and nothing to undo of it counts. Records of versions that knew no `status.fenceUID` count as the object's own.
 */
export function isRestored({ metadata: { uid, annotations, labels }, spec, status }: FenceObject): boolean {
  if (uid === undefined) return false;
  const isBegun = status?.frozen !== undefined;
  const mark = annotations?.[TAKEN_UP_AS];
  if (isBegun && status.fenceUID !== undefined) return status.fenceUID !== uid;
  if (mark !== undefined) return mark !== uid;
  return !isBegun && spec.requestedBy !== undefined && labels?.[RESTORED_LABEL] !== undefined;
}

/** The status, where it is the object's own. */
export function ownStatus(fence: FenceObject): NodeFenceStatus | undefined {
  return isRestored(fence) ? undefined : fence.status;
}
