import { NODE_FENCE_REPORTS } from '../../ports/resources.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { requesterOf } from './requester.ts';
import { sayInReport } from './say-in-report.ts';

/** Says that remedies which had asked for a person go on; returns the conditions that they answer. Each word counts once: it names the episode. */
export async function resumeRemedies(access: Pick<ClusterAccess, 'cluster' | 'clock' | 'transport'>, node: string): Promise<string[]> {
  const report = await access.cluster.get(NODE_FENCE_REPORTS, node);
  const asking = (report?.status?.remedies?.positions ?? []).filter(({ phase }) => phase === 'handed-over');
  if (report === undefined || asking.length === 0) return [];
  const by = await requesterOf(access);
  const reason = `nodefence resume by ${by}`;
  await sayInReport(access.cluster, report, by, { resumedRemedies: asking.map(({ threshold, episode }) => ({ threshold, episode, reason })) });
  return asking.map(({ threshold }) => threshold);
}
