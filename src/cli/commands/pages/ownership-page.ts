import type { CheckRow, NodeOwnership, OwnershipRow } from '../../node-ownership/node-ownership.ts';
import { table } from '../terminal/table.ts';
import type { Column } from '../terminal/table.ts';
import { harmless } from '../terminal/text.ts';
import { heading, paragraph } from './sections.ts';
import type { Sheet } from './sections.ts';

const ROWS_SHOWN = 50;
const COLUMNS: readonly Column[] = [
  { head: 'WHO', least: 20, givesWay: 3 },
  { head: 'NODE', least: 8, givesWay: 2 },
  { head: 'STATE', least: 16, givesWay: 4 },
];

/** Who besides the fences has nodes or asks for them, who drives health checks, and those that found something; nothing where there is nobody. */
export function nodeOwnershipSection(nodeOwnership: NodeOwnership | undefined, sheet: Sheet): string[] {
  if (nodeOwnership === undefined) return [];
  const { rows, checks, unreadable, drivers = [] } = nodeOwnership;
  const unread = unreadable.length === 0 ? [] : [paragraph(sheet, sheet.ink.warn(`Of remediation is not shown: ${unreadable.join(', ')}.`))];
  if (rows.length + checks.length + drivers.length === 0) return unread.length === 0 ? [] : ['', ...unread];
  const shown = rows.slice(0, ROWS_SHOWN);
  const hidden = rows.length - shown.length;
  return [
    heading(sheet, 'Remediation'),
    ...(shown.length === 0 ? [] : table(COLUMNS, shown.map(cells), sheet.ink.bold, sheet.width)),
    ...(hidden > 0 ? [sheet.ink.dim(`and ${hidden} more (-o json has them all)`)] : []),
    ...drivers.map((message) => sheet.ink.dim(paragraph(sheet, harmless(`${message}.`)))),
    ...checks.slice(0, ROWS_SHOWN).map((check) => checkLine(check, sheet)),
    ...unread,
  ];
}

function cells({ who, node, machine, state }: OwnershipRow): { text: string }[] {
  return [{ text: harmless(who) }, { text: harmless(node ?? (machine === undefined ? '-' : `(${machine})`)) }, { text: harmless(state) }];
}

function checkLine({ name, expectedMachines, currentHealthy, blocked }: CheckRow, sheet: Sheet): string {
  const message = `${name}: ${currentHealthy} of ${expectedMachines} machines are healthy${blocked === undefined ? '' : `; nothing is remediated: ${blocked}`}`;
  return (blocked === undefined ? sheet.ink.dim : sheet.ink.warn)(paragraph(sheet, harmless(message)));
}

/** One line for each who has this node. */
export function holderLines(holders: readonly string[], sheet: Sheet): string[] {
  return holders.map((holder) => sheet.ink.warn(paragraph(sheet, harmless(`Node claimed by ${holder}`))));
}
