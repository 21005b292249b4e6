import { epochOf } from '../../domain/epoch.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { LeadershipRecords } from '../../ports/leadership.ts';
import { NODE_FENCE_REPORTS, NODE_FENCES } from '../../ports/resources.ts';

/** What the leaders of all times have written, read from the API's quorum. */
export function leadershipRecords(cluster: Pick<Cluster, 'list'>): LeadershipRecords {
  return {
    highestEpoch: async () => (await cluster.list(NODE_FENCES)).reduce((highest, { status }) => Math.max(highest, epochOf(status)), 0),
    // A leader writes one for each healthy node before it writes anything else.
    hasLed: async () => (await cluster.list(NODE_FENCE_REPORTS)).length > 0,
  };
}
