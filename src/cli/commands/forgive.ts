import { budgetHold } from '../../domain/budget.ts';
import { EMPTY_PLAN } from '../../domain/plan.ts';
import { fenceRecord } from '../../controllers/fence/report.ts';
import { NODE_FENCE_REPORTS, NODE_FENCES } from '../../ports/resources.ts';
import { fenceName } from '../../domain/node-fence.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import { requesterOf } from './requester.ts';
import { sayInReport } from './say-in-report.ts';

const POLICIES: ReadonlySet<string> = new Set(['breaker', 'max-fences-per-day']);

/**
 * Lets a node be fenced again that its own record holds: fenced too often within a day, or in vain. Returns what held it, in words; `undefined` when nothing of the
 * kind does.
 */
export async function forgive(access: Pick<ClusterAccess, 'cluster' | 'clock' | 'transport'>, node: string): Promise<string | undefined> {
  const { cluster, clock } = access;
  const [report, fence] = await Promise.all([cluster.get(NODE_FENCE_REPORTS, node), cluster.get(NODE_FENCES, fenceName(node))]);
  if (report === undefined) return undefined;
  const hold = fence?.status?.hold;
  const standing = hold !== undefined && POLICIES.has(hold.policy) ? `${hold.policy}: ${hold.message}` : undefined;
  const last = Math.max(0, ...(report.status?.incidents ?? []).map(({ incident }) => incident));
  const next = budgetHold(fenceRecord(report), last + 1, fence?.status?.frozen?.plan ?? EMPTY_PLAN, clock.wallMs());
  const held = standing ?? (next === undefined ? undefined : `${next.policy}: ${next.message}`);
  if (held === undefined) return undefined;
  const by = await requesterOf(access);
  await sayInReport(cluster, report, by, { resumed: { incident: last, reason: `nodefence resume by ${by}` } });
  return held;
}
