import { DEFAULT_TIMING } from '../../domain/plan.ts';
import { NODE_FENCE_REPORTS, NODES } from '../../ports/resources.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';
import type { FenceDependencies } from './dependencies.ts';

/** What became of a fence is kept for so long after it, also of a Node that is gone; its plan is gone with it. */
const HISTORY_MS = DEFAULT_TIMING.historyTtlMs;

/**
 * Removes the report of a Node that is gone once what it keeps of fences is old enough, so that reports do not pile up where nodes come and go. Resolves to
 * when to look again, in milliseconds; undefined: there is nothing to look for.
 */
export async function endReport({ cluster, clock, listers, log }: FenceDependencies, name: string): Promise<number | undefined> {
  const report = listers.reports.get(name);
  if (report === undefined) return undefined;
  const keptForMs = Math.min(HISTORY_MS, lastKeptAtMs(report) + HISTORY_MS - clock.wallMs());
  if (keptForMs > 0) return keptForMs;
  // The watch of Nodes may be late: a report that is gone takes the identity of a machine with it.
  if ((await cluster.get(NODES, name)) !== undefined) return undefined;
  const { uid, resourceVersion } = report.metadata;
  await cluster.remove(NODE_FENCE_REPORTS, name, {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  });
  log.info('report of a deleted node removed', { node: name });
  return undefined;
}

/** When the newest that a person may still ask for was written; `-Infinity`: there is nothing but what the machine said of itself. */
function lastKeptAtMs({ status }: NodeFenceReport): number {
  const incidents = (status?.incidents ?? []).map(({ endedAt, startedAt }) => endedAt ?? startedAt);
  const diagnostics = (status?.exhibits ?? []).map(({ takenAt }) => takenAt);
  // Of a machine that was replaced, whose pods run on another one now.
  const problems = (status?.problemCounts?.counted ?? []).flatMap(({ times: counted }) => counted);
  const times = [...incidents, ...diagnostics, ...problems].map((at) => Date.parse(at)).filter((ms) => !Number.isNaN(ms));
  return Math.max(Number.NEGATIVE_INFINITY, ...times);
}
