/** Milliseconds. */
export interface Spread {
  count: number;
  p50: number;
  p99: number;
  max: number;
}

/** Samples by the wall clock, and what they cost in CPU: the kernel may count that in ticks of milliseconds, so it is told as a mean. */
export interface CostedSpread extends Spread {
  cpuMean: number;
}

/** How long `work` takes again and again; what the first tenth takes does not count. */
export async function costedSpreadOf(count: number, work: (number: number) => unknown): Promise<CostedSpread> {
  const [samples, warmUp] = [[] as number[], Math.floor(count / 10)];
  let began = process.cpuUsage();
  for (let number = 0; number < count; number += 1) {
    if (number === warmUp) began = process.cpuUsage();
    const beganMs = performance.now();
    await work(number);
    samples.push(performance.now() - beganMs);
  }
  const { user, system } = process.cpuUsage(began);
  const counted = samples.slice(warmUp);
  return { ...spreadOf(counted), cpuMean: rounded((user + system) / 1_000 / counted.length) };
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
