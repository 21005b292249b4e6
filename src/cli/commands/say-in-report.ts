import { REQUESTED_BY } from '../../ports/authorship.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { NODE_FENCE_REPORTS } from '../../ports/resources.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';

/** A person's word in the report of a node, and whose it is: config/guards refuses a word beside which the author of an earlier one stands. */
export async function sayInReport(
  cluster: Pick<Cluster, 'mergePatch'>,
  { metadata: { name, resourceVersion } }: NodeFenceReport,
  by: string,
  spec: NonNullable<NodeFenceReport['spec']>,
): Promise<void> {
  await cluster.mergePatch(NODE_FENCE_REPORTS, name, { metadata: { resourceVersion, annotations: { [REQUESTED_BY]: by } }, spec });
}
