import type { Cluster } from '../../ports/cluster.ts';
import { isCordonKept } from '../../ports/cordon-marks.ts';
import type { Node } from '../../ports/objects.ts';
import { CORDON_BY_REMEDY } from '../../ports/remedies.ts';
import { NODES } from '../../ports/resources.ts';
import { Conflict } from '../shared/conflict.ts';

/** A cordon of a remedy, with a mark of its own: one that somebody else set is neither taken over nor taken back (P8). Returns whether anything was written. */
export async function setCordon(
  cluster: Pick<Cluster, 'get' | 'mergePatch'>,
  { metadata: { name, uid } }: Node,
  isCordoned: boolean,
  run: string,
  mayBegin: () => void,
): Promise<boolean> {
  const node = await cluster.get(NODES, name);
  if (node === undefined || node.metadata.uid !== uid) throw new Conflict(`Node ${name} is gone, or another one has its name`);
  const { resourceVersion, annotations = {} } = node.metadata;
  const isOurs = annotations[CORDON_BY_REMEDY] !== undefined;
  const isThere = node.spec.unschedulable === true;
  if (isCordoned ? isThere : !isOurs) return false;
  const isLeft = !isCordoned && isCordonKept(node, CORDON_BY_REMEDY);
  const patch = {
    metadata: { uid, resourceVersion, annotations: { [CORDON_BY_REMEDY]: isCordoned ? run : null } },
    ...(!isLeft && { spec: { unschedulable: isCordoned ? true : null } }),
  };
  await cluster.mergePatch(NODES, name, patch, { beforeSend: mayBegin });
  return true;
}

/** Whether the cordon of this run stands, be it of a controller that died behind it, or never heard the answer. */
export async function hasCordoned(cluster: Pick<Cluster, 'get'>, { metadata: { name, uid } }: Node, run: string): Promise<boolean> {
  const node = await cluster.get(NODES, name);
  return node?.metadata.uid === uid && node?.metadata.annotations?.[CORDON_BY_REMEDY] === run;
}

/** Whether a consistent read shows what `setCordon` was to bring about. */
export async function isCordonDone(cluster: Pick<Cluster, 'get'>, { metadata: { name } }: Node, isCordoned: boolean): Promise<boolean> {
  const node = await cluster.get(NODES, name);
  const isOurs = node?.metadata.annotations?.[CORDON_BY_REMEDY] !== undefined;
  return isCordoned ? node?.spec.unschedulable === true : !isOurs;
}
