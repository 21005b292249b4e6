import type { Lister } from '../ports/cluster.ts';
import type { NodeFence } from '../ports/resources.ts';

/** Nobody needs a Lease, a Pod or a report sooner while no node is fenced: whoever looks at silence waits for seconds. */
const REST_MS = 100;

/**
 * For how long watches that nobody waits for may rest after an event: kubelets of 5,000 nodes renew hundreds of Leases a second, after an installation a
 * leader's own reports come back, and waking up for each would cost more than all that is done with them. While a fence is open every sign of life and every
 * pod that ends counts, and nothing rests.
 */
export function restWhileNothingIsFenced(fences: Pick<Lister<NodeFence>, 'onChange'>): () => number {
  const open = new Set<string>();
  fences.onChange((before, after) => {
    if (after !== undefined && after.status?.state !== 'final') open.add(after.metadata.name);
    else open.delete((after ?? before)?.metadata.name ?? '');
  });
  return () => (open.size > 0 ? 0 : REST_MS);
}
