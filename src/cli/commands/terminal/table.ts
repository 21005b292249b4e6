import { clipped, harmless, padded, widthOf } from './text.ts';

export interface Column {
  head: string;
  /** Under this many cells it is not shortened. */
  least: number;
  /** The highest gives way first where a line is too long. */
  givesWay: number;
}

export interface Cell {
  text: string;
  paint?: (text: string) => string;
}

const GAP = '  ';

/** Lines of a table, shortened to `width` cells when given: columns give way in their order, each down to its least. */
export function table(columns: readonly Column[], rows: readonly (readonly Cell[])[], paintHead: (text: string) => string, width?: number): string[] {
  const cells = rows.map((row) => row.map((cell) => ({ ...cell, text: harmless(cell.text) })));
  const widths = columns.map(({ head }, index) => Math.max(widthOf(head), ...cells.map((row) => widthOf(row[index]?.text ?? ''))));
  if (width !== undefined) shrink(columns, widths, width);
  const line = (row: readonly Cell[]): string =>
    columns
      .map((_column, index) => {
        const cell = row[index] ?? { text: '' };
        const cellWidth = widths[index] ?? 0;
        const text = clipped(cell.text, cellWidth);
        const shown = index === columns.length - 1 ? text : padded(text, cellWidth);
        return cell.paint === undefined ? shown : cell.paint(shown);
      })
      .join(GAP)
      .trimEnd();
  return [line(columns.map(({ head }) => ({ text: head, paint: paintHead }))), ...cells.map(line)];
}

function shrink(columns: readonly Column[], widths: number[], width: number): void {
  const order = columns.map((column, index) => ({ ...column, index })).sort((left, right) => right.givesWay - left.givesWay);
  for (const { index, least } of order) {
    const total = widths.reduce((sum, cells) => sum + cells, 0) + GAP.length * (columns.length - 1);
    if (total <= width) return;
    const now = widths[index] ?? 0;
    widths[index] = Math.max(Math.min(now, least), now - (total - width));
  }
}
