import type { Cluster } from '../../ports/cluster.ts';
import { NODE_FENCE_STOPS } from '../../ports/resources.ts';

/** A person's stop of this node, or of all, in words, from a consistent read (P6); undefined: none stands. A workload cluster need not have the kind; ours must. */
export async function activeStop(cluster: Pick<Cluster, 'list'>, node: string | undefined): Promise<string | undefined> {
  const stops = await cluster.list(NODE_FENCE_STOPS);
  const found = stops.find(({ spec }) => spec.all === true || (node !== undefined && spec.node === node));
  return found === undefined ? undefined : `the stop ${found.metadata.name} is active: ${found.spec.reason}`;
}
