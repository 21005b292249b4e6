import type { Cluster } from '../../../ports/cluster.ts';
import type { Node, Taint } from '../../../ports/objects.ts';
import { NODES } from '../../../ports/resources.ts';
import type { ObjectRef } from '../remediation/actions.ts';
import type { TaintFact } from '../remediation/node.ts';
import { precondition } from '../remediation/patch.ts';
import type { OffProof } from './off-proof.ts';
import { nodeToRelease } from './remove-node.ts';
import type { ReleaseDependencies } from './remove-node.ts';
import type { ReadObjects } from './write.ts';

/** What frees the volumes of a Node at once, and has its pods collected, whatever its value. */
export const OUT_OF_SERVICE_KEY = 'node.kubernetes.io/out-of-service';

export type TaintNode =
  /** Adding it is the release: Node and Lease are read consistently right before it (P2). Removing: only this very taint. */
  | { kind: 'taint'; target: ObjectRef; taint: TaintFact; isPresent: true; proof: OffProof }
  | { kind: 'taint'; target: ObjectRef; taint: TaintFact; isPresent: false };

/** Taints the Node of a host that is proven off, at the version in which it may be. */
export async function setTaint(
  { cluster, life }: ReleaseDependencies & { cluster: Pick<Cluster, 'mergePatch'> },
  { target, taint: { key, value, effect }, proof }: Extract<TaintNode, { isPresent: true }>,
): Promise<void> {
  const node = await nodeToRelease({ cluster, life }, target, proof);
  const added = { key, effect: effect as Taint['effect'], ...(value !== undefined && { value }) };
  const taints = [...(node.spec.taints ?? []).filter((each) => each.key !== key || each.effect !== effect), added];
  await cluster.mergePatch(NODES, target.name, { metadata: precondition(node), spec: { taints } });
}

/** Only that very taint: others stay. */
export async function removeTaint(
  cluster: Pick<Cluster, 'mergePatch'>,
  objects: ReadObjects,
  { target, taint: { key, value, effect } }: Extract<TaintNode, { isPresent: false }>,
): Promise<void> {
  await objects.patch(cluster, target, (object) => {
    const { spec } = object as Node;
    const taints = (spec.taints ?? []).filter((each) => each.key !== key || each.value !== value || each.effect !== effect);
    return { metadata: precondition(object), spec: { taints } };
  });
}
