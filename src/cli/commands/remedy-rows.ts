import type { NodeRemedies } from '../../domain/remedy/reach.ts';
import type { RemedyPhase } from '../../domain/remedy/position.ts';
import type { Node } from '../../ports/objects.ts';
import type { NodeFenceReport } from '../../ports/resources.ts';

/** Where the remedies of one condition are, as the leader wrote it; also the shape of `-o json`. */
export interface RemedyRow {
  threshold: string;
  phase: RemedyPhase;
  attempt: number;
  since: string;
  /** The remedy that runs or is to begin. */
  remedy?: string;
  message?: string;
}

export function remediesOf(report: NodeFenceReport | undefined): RemedyRow[] {
  return (report?.status?.remedies?.positions ?? []).map(({ threshold, phase, attempt, since, run, message }) => ({
    ...{ threshold, phase, attempt, since },
    ...(run !== undefined && { remedy: run.remedy }),
    ...(message !== undefined && { message }),
  }));
}

/** One word for a table: what a person must see first. */
export function remedyWord(rows: readonly RemedyRow[]): string | undefined {
  const [first] = rows.toSorted((one, other) => WEIGHTS[one.phase] - WEIGHTS[other.phase]);
  if (first === undefined) return undefined;
  return first.phase === 'running' || first.phase === 'starting' ? `${first.remedy ?? ''}${first.phase === 'starting' ? '?' : ''}` : first.phase;
}

const WEIGHTS: Readonly<Record<RemedyPhase, number>> = { 'handed-over': 0, running: 1, starting: 2, fenced: 3, waiting: 4, cooling: 5, recovered: 6 };

/** What is configured for a node, and what its conditions say to that now. */
export function configuredRemedies({ thresholds, overlaps }: NodeRemedies, node: Node): string[] {
  const overlapping = overlaps.map(({ condition, configurations: several }) => {
    const names = several.map(({ name }) => name).join(' and ');
    return `${condition} is answered by nobody: ${names} both do`;
  });
  return [
    ...thresholds.map(({ id, conditionType, remedies, recovery }) => {
      const status = node.status.conditions?.find(({ type }) => type === conditionType)?.status;
      const names = [...remedies.map(({ name }) => name), ...(recovery === undefined ? [] : [`recovery ${recovery.name}`])].join(', ');
      return `${id} (${status === undefined ? 'the Node has no such condition' : `now ${status}`}): ${names}`;
    }),
    ...overlapping,
  ];
}
