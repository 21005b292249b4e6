import { isAuthored } from '../../preservation/mark.ts';
import type { PreservedRow } from '../../preservation/picture.ts';
import type { PreservedFleet } from '../fleet.ts';
import { table } from '../terminal/table.ts';
import type { Cell, Column } from '../terminal/table.ts';
import { counted, harmless } from '../terminal/text.ts';
import { clockTime, duration } from '../terminal/times.ts';
import { heading, paragraph } from './sections.ts';
import type { Sheet } from './sections.ts';

const ROWS_SHOWN = 50;
const PROBLEMS_SHOWN = 3;
const COLUMNS: readonly (Column & { mayGo?: true })[] = [
  { head: 'MACHINE', least: 12, givesWay: 4, mayGo: true },
  { head: 'NODE', least: 12, givesWay: 3 },
  { head: 'POOL', least: 6, givesWay: 5, mayGo: true },
  { head: 'PHASE', least: 16, givesWay: 0 },
  { head: 'CAUSE', least: 9, givesWay: 0 },
  { head: 'UNTIL', least: 9, givesWay: 0 },
];

/** Machines that are kept, that shall be, or that cannot be as somebody may think; nothing where there are none. */
export function preservedSection(fleet: PreservedFleet | undefined, sheet: Sheet): string[] {
  if (fleet === undefined) return [];
  const { machines, problems, unreadable, mode } = fleet;
  const whose = mode === 'own' ? '' : sheet.ink.dim(' (by an MCM)');
  const unread = unreadable.length === 0 ? [] : [paragraph(sheet, sheet.ink.warn(`Of preservation is not shown: ${unreadable.join(', ')}.`))];
  const told = problems.slice(0, PROBLEMS_SHOWN).map((problem) => sheet.ink.warn(paragraph(sheet, harmless(problem))));
  const more =
    problems.length > PROBLEMS_SHOWN ? [sheet.ink.warn(`and ${counted(problems.length - PROBLEMS_SHOWN, 'more problem')} of preservation`)] : [];
  if (machines.length === 0) return unread.length + told.length === 0 ? [] : ['', ...unread, ...told, ...more];
  const shown = machines.slice(0, ROWS_SHOWN);
  const hidden = machines.length - shown.length;
  return [
    `${heading(sheet, 'Preservation')}${whose}`,
    ...rows(shown, sheet),
    ...shown.flatMap(({ marks = [] }) => marks.filter(isAuthored).map((mark) => sheet.ink.dim(paragraph(sheet, harmless(`mark: ${mark}`), '  ')))),
    ...(hidden > 0 ? [sheet.ink.dim(`and ${hidden} more (-o json has them all)`)] : []),
    ...unread,
    ...told,
    ...more,
  ];
}

function rows(shown: readonly PreservedRow[], sheet: Sheet): string[] {
  const all = shown.map((row) => cells(row, sheet));
  const kept = COLUMNS.map((column, index) => ({ column, index })).filter(
    ({ column, index }) => column.mayGo !== true || all.some((row) => row[index]?.text !== '-'),
  );
  const picked = all.map((row) => kept.map(({ index }) => row[index] ?? { text: '' }));
  return table(
    kept.map(({ column }) => column),
    picked,
    sheet.ink.bold,
    sheet.width,
  );
}

function cells(row: PreservedRow, { ink, nowMs }: Sheet): Cell[] {
  const plain = (text: string | undefined): Cell => (text === undefined || text === '' ? { text: '-', paint: ink.dim } : { text });
  return [
    plain(row.kind === 'Machine' ? row.name : undefined),
    plain(row.node),
    plain(row.pool),
    { text: row.phase === '' ? '?' : row.phase, paint: row.isPreserved ? (row.phase.startsWith('Failed') ? ink.bad : ink.good) : ink.dim },
    plain(describeCause(row)),
    plain(describeUntil(row, nowMs)),
  ];
}

/** `user, now`, `automatic`; of what is not preserved what is asked for. */
function describeCause({ cause, asked, isPreserved }: PreservedRow): string | undefined {
  const said = asked === 'false' ? 'never' : asked === 'automatic' ? undefined : asked;
  if (!isPreserved) return said === undefined ? undefined : `asked: ${said}`;
  return [cause, said].filter((word) => word !== undefined).join(', ');
}

function describeUntil({ until, isPreserved }: PreservedRow, nowMs: number): string | undefined {
  if (until === undefined || !isPreserved) return undefined;
  return `${clockTime(until, nowMs)} (in ${duration(Math.max(0, Date.parse(until) - nowMs))})`;
}

/** One line without ages: `Failed:Preserved, user, now, until 2026-03-31T02:15:00.000Z`. */
export function describePreserved(row: PreservedRow): string {
  const { phase, until, isPreserved, problem } = row;
  const parts = [
    phase === '' ? 'phase unknown' : phase,
    describeCause(row),
    isPreserved && until !== undefined ? `until ${until}` : undefined,
    problem,
  ];
  return parts.filter((part) => part !== undefined).join(', ');
}

/** About one node: what is kept of its machine. */
export function preservedParagraph(row: PreservedRow, sheet: Sheet): string {
  const name = row.kind === 'Machine' ? `Machine ${row.namespace ?? ''}/${row.name}` : `Node ${row.name}`;
  const marks = (row.marks ?? []).map((mark) => paragraph(sheet, harmless(`mark: ${mark}`), '  '));
  return [sheet.ink.warn(paragraph(sheet, harmless(`Preservation of ${name}: ${describePreserved(row)}`))), ...marks].join('\n');
}
