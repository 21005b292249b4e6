import { lifeAfterProof } from '../../../domain/health.ts';
import type { FreshNode } from '../../../domain/health.ts';
import { mayLive } from '../../../domain/last-step.ts';
import { fenceName } from '../../../domain/node-fence.ts';
import type { Evidence, NodeFenceStatus } from '../../../domain/node-fence.ts';
import { AgentError } from '../../../ports/agents.ts';
import type { JobReport } from '../../../domain/snapshot.ts';
import type { Lease, Node } from '../../../ports/objects.ts';
import { LEASES, NODE_FENCES, NODE_LEASE_NAMESPACE, NODES } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { heartbeatOf, readyOf } from '../observation.ts';
import { UNRECORDED } from '../run/run.ts';
import type { AskedPods } from '../../shared/release/asked-pods.ts';

export type ReleaseReport = Pick<JobReport, 'result' | 'message' | 'released' | 'storageRelease'>;

/** What a release may rest on, and what it must find unchanged in the API. */
export interface ReleaseOrder {
  node: string;
  /** uid of the NodeFence. */
  fenceUID: string;
  status: NodeFenceStatus;
  proof: Evidence;
  /** Lease renewTime as last received; another one in a consistent read is a sign of life. */
  renewTime: string | undefined;
  /** The kubelet's heartbeat as last received; another one in a consistent read is a sign of life. */
  heartbeat: string | undefined;
  /** What the release has asked for in vain so far. */
  asked: AskedPods;
  /** A call goes on that the operation does not wait for any longer. Never rejects. */
  readonly outlives: (call: Promise<unknown>) => void;
  /** Throws when a stop, a hold or a lost lease forbids to begin or go on. Asked before each round, and by each write in the turn in which its bytes leave. */
  readonly mayGoOn: () => void;
}

const API = { device: 'Kubernetes API', plug: '' };

/** A sign of life in a consistent read: the proof is void and nothing more is released (P2). */
export class LifeSeen extends Error {}

function freshNode(node: Node, lease: Lease | undefined): FreshNode {
  return {
    uid: node.metadata.uid,
    bootID: node.status.nodeInfo?.bootID,
    ready: readyOf(node)?.status ?? 'missing',
    heartbeat: heartbeatOf(node),
    renewTime: lease?.spec.renewTime,
  };
}

/** A fresh Node, after Node and Lease have shown no life since the last off read, and while the proof's own NodeFence stands. */
export async function silentNode({ cluster }: FenceDependencies, order: ReleaseOrder): Promise<Node> {
  const [node, lease, fence] = await Promise.all([
    cluster.get(NODES, order.node),
    cluster.get(LEASES, order.node, NODE_LEASE_NAMESPACE),
    cluster.get(NODE_FENCES, fenceName(order.node)),
  ]);
  order.mayGoOn();
  if (fence?.metadata.uid !== order.fenceUID) throw new AgentError('NotSent', { ...API, asked: `release ${order.node}`, answered: UNRECORDED });
  const now = node === undefined ? undefined : freshNode(node, lease);
  const { status, proof, renewTime, heartbeat } = order;
  const mayBeReady = status.trigger?.kind === 'heartbeat';
  const life = lifeAfterProof(now, { uid: status.frozen?.nodeUID, bootID: proof.bootID, renewTime, heartbeat, mayBeReady }, mayLive(status, proof));
  if (node === undefined || life !== undefined) throw new LifeSeen(life);
  return node;
}
