import { cpus } from 'node:os';
import { SILENT } from './display.ts';
import { runDrill } from './drill-run.ts';
import { FAULTS } from './options.ts';
import type { DrillOptions, Fault } from './options.ts';
import type { DrillResult } from './result.ts';

/** Each run is about a dozen processes that mostly wait. */
const RUNS_PER_CORE = 3;

export interface MatrixRow {
  fault: Fault;
  seed: number;
  result?: DrillResult;
  failure?: string;
}

/** Every fault with every seed, several at a time; rows come back in order. */
export async function runMatrix(
  options: DrillOptions,
  seeds: number,
  onRow: (row: MatrixRow, done: number, of: number) => void,
): Promise<MatrixRow[]> {
  const rows: MatrixRow[] = FAULTS.flatMap((fault) => Array.from({ length: seeds }, (_unused, index) => ({ fault, seed: options.seed + index })));
  // The longest first, so that none is left alone at the end.
  const waiting = [...rows].reverse();
  let done = 0;
  const work = async (): Promise<void> => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      try {
        row.result = await runDrill({ ...options, fault: row.fault, seed: row.seed, keep: false }, SILENT, () => Promise.resolve());
      } catch (error) {
        row.failure = String(error);
      }
      done += 1;
      onRow(row, done, rows.length);
    }
  };
  await Promise.all(Array.from({ length: Math.max(2, cpus().length * RUNS_PER_CORE) }, work));
  return rows;
}

export function isGood(row: MatrixRow): boolean {
  return row.result?.expected === true;
}

/** A table by fault: how many ended as they must, and the median and the slowest of their times. */
export function tableOf(rows: readonly MatrixRow[]): string {
  const lines = ['fault      ended as they must   off proven (median, worst)   released            final               violations  overlaps'];
  for (const fault of FAULTS) {
    const own = rows.filter((row) => row.fault === fault);
    const results = own.flatMap((row) => row.result ?? []);
    const violations = results.reduce((sum, result) => sum + Object.values(result.laws).reduce((count, law) => count + law.violations.length, 0), 0);
    const overlaps = results.reduce((sum, result) => sum + result.writers.overlaps, 0);
    const times = (['poweredOffAt', 'releasedAt', 'finalAt'] as const).map((phase) =>
      spread(results.flatMap((result) => result.timeline[phase] ?? [])),
    );
    lines.push(
      `${fault.padEnd(10)} ${`${own.filter(isGood).length} of ${own.length}`.padEnd(20)} ${(times[0] ?? '').padEnd(28)} ${(times[1] ?? '').padEnd(19)} ${(times[2] ?? '').padEnd(19)} ${String(violations).padEnd(11)} ${overlaps}`,
    );
  }
  for (const row of rows.filter((candidate) => !isGood(candidate))) {
    lines.push(`${row.fault} seed ${row.seed}: ${row.failure ?? row.result?.problems.join('; ') ?? 'did not run'}`);
  }
  return `${lines.join('\n')}\n`;
}

function spread(times: readonly number[]): string {
  if (times.length === 0) return '–';
  const sorted = [...times].sort((a, b) => a - b);
  return `${((sorted[Math.floor(sorted.length / 2)] ?? 0) / 1000).toFixed(2)}s, ${((sorted.at(-1) ?? 0) / 1000).toFixed(2)}s`;
}
