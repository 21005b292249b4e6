import { epochOf } from '../../domain/epoch.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { LeadershipRecords } from '../../ports/leadership.ts';
import { NODE_FENCES } from '../../ports/resources.ts';

/** What the leaders of all times have written, read consistently. */
export function leadershipRecords(cluster: Pick<Cluster, 'list'>): LeadershipRecords {
  return {
    highestEpoch: async () => (await cluster.list(NODE_FENCES)).reduce((highest, { status }) => Math.max(highest, epochOf(status)), 0),
  };
}
