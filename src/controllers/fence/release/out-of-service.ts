import { OUT_OF_SERVICE_TAINT } from '../../../domain/advance.ts';
import { fenceName } from '../../../domain/node-fence.ts';
import { AgentError } from '../../../ports/agents.ts';
import { ApiStatusError, isUnanswered } from '../../../ports/api-transport.ts';
import type { Node, Taint } from '../../../ports/objects.ts';
import { NODES } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { OUT_OF_SERVICE_OWNER } from '../ownership.ts';
import { silentNode } from './order.ts';
import type { ReleaseOrder } from './order.ts';

const CONFLICTS_MAX = 5;

/** Whose out-of-service taint a Node carries. Without our mark, or with another value, it is somebody else's, whoever set it at first (P8). */
export type TaintOwner = 'nobody' | 'ours' | 'foreign';

export function taintOwnerOf(node: Node | undefined): TaintOwner {
  const standing = (node?.spec.taints ?? []).filter(isOutOfService);
  if (standing.length === 0) return 'nobody';
  return isMarked(node) && standing.some(isExactlyOurs) ? 'ours' : 'foreign';
}

/** The Node says that a fence of ours set the taint; of whichever NodeFence. */
export function isMarked(node: Node | undefined): boolean {
  return node?.metadata.annotations?.[OUT_OF_SERVICE_OWNER] !== undefined;
}

function isOutOfService({ key }: Taint): boolean {
  return key === OUT_OF_SERVICE_TAINT.key;
}

function isExactlyOurs({ key, value, effect }: Taint): boolean {
  return key === OUT_OF_SERVICE_TAINT.key && value === OUT_OF_SERVICE_TAINT.value && effect === OUT_OF_SERVICE_TAINT.effect;
}

/** Which fence and incident set it: `node-fence-a/<uid>/3`. */
export function markFor({ node, fenceUID, status }: Pick<ReleaseOrder, 'node' | 'fenceUID' | 'status'>): string {
  return `${fenceName(node)}/${fenceUID}/${status.incident}`;
}

/**
 * Sets our taint with our mark; one that an earlier fence of ours left is taken over, a foreign one neither changed nor claimed. `taintMayBeSet`: told before it
 * rejects when nobody knows whether the taint was set.
 */
export async function setTaint(
  dependencies: FenceDependencies,
  order: ReleaseOrder,
  taintMayBeSet: () => void,
): Promise<Exclude<TaintOwner, 'nobody'>> {
  return onFreshNode(async () => {
    const node = await silentNode(dependencies, order);
    const taints = node.spec.taints ?? [];
    const mark = markFor(order);
    const isTaken = taints.some(({ key, effect }) => key === OUT_OF_SERVICE_TAINT.key && effect === OUT_OF_SERVICE_TAINT.effect);
    if (isTaken && taintOwnerOf(node) === 'foreign') {
      if (isMarked(node)) await patch(dependencies, node, { mark: null, beforeSend: order.mayGoOn });
      return 'foreign';
    }
    if (isTaken && node.metadata.annotations?.[OUT_OF_SERVICE_OWNER] === mark) return 'ours';
    try {
      const change = { mark, beforeSend: order.mayGoOn };
      await patch(dependencies, node, isTaken ? change : { ...change, taints: [...taints, OUT_OF_SERVICE_TAINT] });
    } catch (error) {
      if (isUnanswered(error)) taintMayBeSet();
      throw error;
    }
    return 'ours';
  });
}

/** Takes our taint and our mark back; a foreign taint stays, and so does that of another Node which has the name since. `mayGoOn`: as in a release. */
export async function removeTaint(
  dependencies: FenceDependencies,
  { name, uid }: Pick<Node['metadata'], 'name' | 'uid'>,
  mayGoOn: () => void,
): Promise<void> {
  await onFreshNode(async () => {
    const node = await dependencies.cluster.get(NODES, name);
    if (node === undefined || !isMarked(node)) return;
    if (node.metadata.uid !== uid) {
      const asked = `take our out-of-service taint from Node ${name}`;
      throw new AgentError('NotSent', { device: 'Kubernetes API', plug: '', asked, answered: 'another Node has its name' });
    }
    const taints = node.spec.taints ?? [];
    const change = { mark: null, beforeSend: mayGoOn };
    await patch(dependencies, node, taints.some(isExactlyOurs) ? { ...change, taints: taints.filter((taint) => !isExactlyOurs(taint)) } : change);
  });
}

/** With a consistent read. */
export async function readTaintOwner({ cluster }: FenceDependencies, name: string): Promise<TaintOwner> {
  return taintOwnerOf(await cluster.get(NODES, name));
}

interface TaintChange {
  mark: string | null;
  /** Absent: they stay as they are. */
  taints?: readonly Taint[];
  beforeSend: () => void;
}

async function patch({ cluster }: FenceDependencies, node: Node, { mark, taints, beforeSend }: TaintChange): Promise<void> {
  const body = {
    metadata: { resourceVersion: node.metadata.resourceVersion, annotations: { [OUT_OF_SERVICE_OWNER]: mark } },
    ...(taints === undefined ? {} : { spec: { taints } }),
  };
  await cluster.mergePatch(NODES, node.metadata.name, body, { beforeSend });
}

/** Somebody else changed the Node between read and write: read again, a few times. */
async function onFreshNode<T>(change: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await change();
    } catch (error) {
      if (!(error instanceof ApiStatusError) || error.status !== 409 || tries >= CONFLICTS_MAX) throw error;
    }
  }
}
