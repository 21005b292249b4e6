/** Milliseconds. */
export interface Spread {
  count: number;
  p50: number;
  p99: number;
  max: number;
}

export function spreadOf(samples: readonly number[]): Spread {
  const sorted = [...samples].sort((a, b) => a - b);
  const at = (share: number): number => rounded(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN);
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Columns as wide as their widest cell. */
export function tableOf(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_unused, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function spreadCells(name: string, { count, p50, p99, max }: Spread, digits = 1): string[] {
  return [name, String(count), ...[p50, p99, max].map((value) => value.toFixed(digits))];
}
