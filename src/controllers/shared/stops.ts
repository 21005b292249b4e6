import type { Cluster } from '../../ports/cluster.ts';
import { NODE_FENCE_STOPS } from '../../ports/resources.ts';

/** A person's stop of this node, or of all, in words, from a consistent read (P6); undefined: none stands. A workload cluster need not have the kind; ours must. */
export async function activeStop(cluster: Pick<Cluster, 'list'>, node: string | undefined): Promise<string | undefined> {
  const stops = await cluster.list(NODE_FENCE_STOPS);
  const found = stops.find(({ spec }) => spec.all === true || (node !== undefined && spec.node === node));
  return found === undefined ? undefined : `the stop ${found.metadata.name} is active: ${found.spec.reason}`;
}

/** The same in our cluster, and in that of the Node where it is another. */
export async function activeStopAt(
  own: Pick<Cluster, 'list'>,
  place: { cluster: Pick<Cluster, 'list'>; isOwn: boolean } | undefined,
  node: string | undefined,
): Promise<string | undefined> {
  const here = await activeStop(own, node);
  return here !== undefined || place === undefined || place.isOwn ? here : activeStop(place.cluster, node);
}
