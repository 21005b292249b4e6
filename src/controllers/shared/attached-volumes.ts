import type { Cluster } from '../../ports/cluster.ts';
import type { Node } from '../../ports/objects.ts';
import { VOLUME_ATTACHMENTS } from '../../ports/resources.ts';
import { OUT_OF_SERVICE_KEY } from './baremetal-host/out-of-service.ts';

/** A node that was heard of lately is waited for until it is no longer Ready, then a round of the pod garbage collector, then the detach itself. */
export const DETACH_TIMEOUT_MS = 2 * 60_000;

/**
 * How many volumes are still being taken from a Node that is out of service. Of a Node that is gone the cluster takes them after six minutes alone, so that it
 * must not go before; of one without the taint it does not matter. A consistent read.
 */
export async function volumesLeavingOf(cluster: Pick<Cluster, 'list'>, { metadata, spec }: Pick<Node, 'metadata' | 'spec'>): Promise<number> {
  if (spec.taints?.some(({ key }) => key === OUT_OF_SERVICE_KEY) !== true) return 0;
  return (await cluster.list(VOLUME_ATTACHMENTS)).filter(({ spec: { nodeName } }) => nodeName === metadata.name).length;
}

/** What is told of a Node that goes with its volumes all the same. */
export function leftAttached(count: number): string {
  const [volumes, them] = count === 1 ? ['1 volume of it is', 'it'] : [`${count} volumes of it are`, 'them'];
  return `${volumes} still attached, after a wait of ${DETACH_TIMEOUT_MS / 1000} s: the cluster may take six minutes to detach ${them}`;
}
