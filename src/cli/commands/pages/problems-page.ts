import { windowText } from '../../../domain/remedy/alarm-words.ts';
import type { ProblemRow } from '../../../domain/remedy/problem-rows.ts';
import { table } from '../terminal/table.ts';
import type { Cell, Column } from '../terminal/table.ts';
import { moment } from '../terminal/times.ts';
import type { Sheet } from './sections.ts';

const NODES_NAMED = 3;
const COLUMNS: readonly Column[] = [
  { head: 'SUBJECT', least: 16, givesWay: 1 },
  { head: 'PROBLEM', least: 10, givesWay: 2 },
  { head: 'COUNT', least: 5, givesWay: 0 },
  { head: 'LAST', least: 9, givesWay: 3 },
  { head: 'ALARM', least: 8, givesWay: 0 },
  { head: 'NODES', least: 12, givesWay: 4 },
];

/** One line for each node or workload and reason. */
export function problemsPage(rows: readonly ProblemRow[], node: string | undefined, sheet: Sheet): string {
  if (rows.length === 0)
    return `No problem of ${node === undefined ? 'any node' : `node ${node}`} was counted. Alarms of remedies name what is counted.`;
  return table(
    COLUMNS,
    rows.map((row) => cells(row, sheet)),
    sheet.ink.bold,
    sheet.width,
  ).join('\n');
}

function cells({ subject, reason, problems, lastAt, alarms, nodes }: ProblemRow, { ink, nowMs }: Sheet): Cell[] {
  const raised = alarms.map(({ count, windowMs }) => `${count} in ${windowText(windowMs)}`).join(', ');
  const more = nodes.length > NODES_NAMED ? ` and ${nodes.length - NODES_NAMED} more` : '';
  return [
    { text: subject },
    { text: reason },
    { text: String(problems) },
    { text: moment(lastAt, nowMs) },
    raised === '' ? { text: '-' } : { text: raised, paint: ink.warn },
    { text: `${nodes.slice(0, NODES_NAMED).join(', ')}${more}` },
  ];
}
