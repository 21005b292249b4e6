import type { Evidence, NodeFenceStatus } from '../../../domain/node-fence.ts';
import type { JobReport } from '../../../domain/snapshot.ts';
import type { Node } from '../../../ports/objects.ts';
import { LEASES, NODE_LEASE_NAMESPACE, NODES } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { readyOf } from '../observation.ts';
import type { AskedPods } from '../../shared/release/asked-pods.ts';

export type ReleaseReport = Pick<JobReport, 'result' | 'message' | 'released' | 'storageRelease'>;

/** What a release may rest on, and what it must find unchanged in the API. */
export interface ReleaseOrder {
  node: string;
  /** uid of the NodeFence. */
  fenceUID: string;
  status: NodeFenceStatus;
  proof: Evidence;
  /** Lease renewTime as last received; another one at the quorum is a sign of life. */
  renewTime: string | undefined;
  /** What the release has asked for in vain so far. */
  asked: AskedPods;
  /** A call goes on that the operation does not wait for any longer. Never rejects. */
  readonly outlives: (call: Promise<unknown>) => void;
  /** Throws when a stop, a hold or a lost lease forbids to begin or go on. Asked before each round, and by each write in the turn in which its bytes leave. */
  readonly mayGoOn: () => void;
}

/** A sign of life at the API's quorum: the proof is void and nothing more is released (P2). */
export class LifeSeen extends Error {}

/** A fresh Node, after Node and Lease have shown no life since the last off read. */
export async function silentNode({ cluster }: FenceDependencies, order: ReleaseOrder): Promise<Node> {
  const [node, lease] = await Promise.all([cluster.get(NODES, order.node), cluster.get(LEASES, order.node, NODE_LEASE_NAMESPACE)]);
  order.mayGoOn();
  if (node === undefined || node.metadata.uid !== order.status.frozen?.nodeUID)
    throw new LifeSeen('the Node is gone or was replaced: nothing is released for it');
  if (lease?.spec.renewTime !== undefined && lease.spec.renewTime !== order.renewTime)
    throw new LifeSeen(`the lease was renewed at ${lease.spec.renewTime}, after the last off read`);
  if (order.proof.bootID !== undefined && node.status.nodeInfo?.bootID !== order.proof.bootID)
    throw new LifeSeen(`boot ID ${node.status.nodeInfo?.bootID ?? 'none'} appeared after the off`);
  // It flipped back while it was being switched off: its pods are in place, and it is switched on again. A fence that was asked for waits until it is not.
  if (readyOf(node)?.status === 'True') throw new LifeSeen('the Node is Ready');
  return node;
}
