import { problemRows } from '../domain/remedy/problem-rows.ts';
import type { ProblemRow } from '../domain/remedy/problem-rows.ts';
import type { ComposedController } from '../manager/compose.ts';
import { NODE_FENCE_REPORTS } from '../ports/resources.ts';
import type { NodeFenceReport } from '../ports/resources.ts';

const REPORTS = `${NODE_FENCE_REPORTS.plural}.${NODE_FENCE_REPORTS.group}`;

/** As the reports say that a controller watches, whether it leads or not. */
export function countedProblems(watched: ComposedController['listers']): ProblemRow[] {
  const reports = watched.find(({ name }) => name === REPORTS)?.lister.all() ?? [];
  return problemRows([...reports].map((report) => ({ node: report.metadata.name, record: (report as NodeFenceReport).status?.problemCounts })));
}
