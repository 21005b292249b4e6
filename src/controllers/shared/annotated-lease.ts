import { ApiStatusError } from '../../ports/api-transport.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { LEASES } from '../../ports/resources.ts';

/** Writes these annotations of a Lease that every replica may write, and creates it where there is none; null: it is to have none. */
export async function annotateLease(
  cluster: Pick<Cluster, 'create' | 'mergePatch'>,
  { namespace, name }: { namespace: string; name: string },
  annotations: Readonly<Record<string, string | null>>,
): Promise<void> {
  try {
    await cluster.mergePatch(LEASES, name, { metadata: { annotations } }, { namespace });
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.status !== 404) throw error;
    const kept = Object.fromEntries(Object.entries(annotations).filter((entry): entry is [string, string] => entry[1] !== null));
    await cluster.create(LEASES, { metadata: { name, namespace, annotations: kept }, spec: {} });
  }
}
