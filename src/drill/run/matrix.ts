import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { SILENT } from './display.ts';
import { runDrill } from './drill-run.ts';
import { EXPECTED } from '../faults/names.ts';
import type { Fault } from '../faults/names.ts';
import { sceneOf } from '../faults/scenes.ts';
import type { Agent, DrillOptions } from './options.ts';
import type { DrillResult } from './result.ts';
import { plantedText, rightsText } from './summary.ts';

/** Each run is about a dozen processes that mostly wait. */
const RUNS_PER_CORE = 3;
/** A drill of the usual size. */
const USUAL_NODES = 3;

export interface MatrixRow {
  fault: Fault;
  agent: Agent;
  seed: number;
  result?: DrillResult;
  failure?: string;
}

export interface MatrixSize {
  faults: readonly Fault[];
  agents: readonly Agent[];
  seeds: number;
}

/** Every fault with every agent and every seed, several at a time; rows come back in order. */
export async function runMatrix(
  options: DrillOptions,
  size: MatrixSize,
  onRow: (row: MatrixRow, done: number, of: number) => void,
): Promise<MatrixRow[]> {
  const rows = rowsOf(options, size);
  // The longest first, so that none is left alone at the end.
  const waiting = [...rows].sort((a, b) => EXPECTED[b.fault].deadlineMs - EXPECTED[a.fault].deadlineMs);
  const compileCache = mkdtempSync(join(tmpdir(), 'nodefence-compiled-'));
  let done = 0;
  const room = new Room(Math.max(2, cpus().length * RUNS_PER_CORE) * USUAL_NODES);
  const work = async (): Promise<void> => {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      const nodes = options.nodes ?? sceneOf(row.fault).nodes;
      await room.take(nodes);
      const { fault, agent, seed } = row;
      try {
        row.result = await runDrill({ ...options, fault, agent, seed, compileCache, keep: false }, SILENT, () => Promise.resolve());
      } catch (error) {
        row.failure = String(error);
      } finally {
        room.giveBack(nodes);
      }
      done += 1;
      onRow(row, done, rows.length);
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.max(2, cpus().length * RUNS_PER_CORE) }, work));
  } finally {
    rmSync(compileCache, { recursive: true, force: true });
  }
  return rows;
}

/** As many machines as may run at once; a drill that is larger than all of the room has it alone. */
export class Room {
  readonly #size: number;
  #taken = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  async take(count: number): Promise<void> {
    while (this.#taken > 0 && this.#taken + count > this.#size) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#taken += count;
  }

  giveBack(count: number): void {
    this.#taken -= count;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}

/** What became of a run, in one line; the table says more. */
export function outcomeOf(row: MatrixRow): string {
  if (isGood(row)) return 'as it must be';
  return `NOT AS IT MUST BE: ${(row.failure ?? row.result?.problems.join('; ') ?? 'did not run').split('\n')[0] ?? ''}`;
}

function rowsOf(options: DrillOptions, { faults, agents, seeds }: MatrixSize): MatrixRow[] {
  const numbers = Array.from({ length: seeds }, (_unused, index) => options.seed + index);
  return faults.flatMap((fault) => agents.flatMap((agent) => numbers.map((seed) => ({ fault, agent, seed }))));
}

export function isGood(row: MatrixRow): boolean {
  return row.result?.expected === true;
}

const PHASES = ['poweredOffAt', 'releasedAt', 'finalAt'] as const;

/** A table by fault and agent: how many ended as they must, and the median and the slowest of their times. */
export function tableOf(rows: readonly MatrixRow[]): string {
  const lines = [columns('fault', 'agent', 'as it must be', 'last off proven (median, worst)', 'released', 'final', 'violations', 'overlaps')];
  const kinds = new Map<string, MatrixRow[]>();
  for (const row of rows) {
    const kind = `${row.fault} ${row.agent}`;
    kinds.set(kind, [...(kinds.get(kind) ?? []), row]);
  }
  for (const own of kinds.values()) {
    const [first] = own;
    if (first === undefined) continue;
    const results = own.flatMap((row) => row.result ?? []);
    const violations = results.reduce((sum, result) => sum + Object.values(result.laws).reduce((count, law) => count + law.violations.length, 0), 0);
    const overlaps = results.reduce((sum, result) => sum + result.writers.overlaps, 0);
    const times = PHASES.map((phase) => spread(results.flatMap((result) => result.timeline[phase] ?? [])));
    const [off = '', released = '', final = ''] = times;
    const good = `${own.filter(isGood).length} of ${own.length}`;
    lines.push(columns(first.fault, first.agent, good, off, released, final, String(violations), String(overlaps)));
  }
  lines.push(`planted passwords and tokens: ${plantedText(rows.flatMap((row) => row.result ?? []))}`);
  lines.push(rightsText(rows.flatMap((row) => row.result ?? [])));
  for (const row of rows.filter((candidate) => !isGood(candidate))) {
    const did = row.result?.did === undefined ? '' : ` (${row.result.did})`;
    lines.push(`${row.fault} by ${row.agent}, seed ${row.seed}${did}: ${row.failure ?? row.result?.problems.join('; ') ?? 'did not run'}`);
    lines.push(`  to play it alone: --fault ${row.fault} --agent ${row.agent} --seed ${row.seed}`);
  }
  lines.push(`${rows.filter(isGood).length} of ${rows.length} as they must be`);
  return `${lines.join('\n')}\n`;
}

function columns(...cells: readonly string[]): string {
  const widths = [21, 8, 14, 32, 18, 18, 11, 0];
  return cells
    .map((cell, index) => cell.padEnd(widths[index] ?? 0))
    .join(' ')
    .trimEnd();
}

function spread(times: readonly number[]): string {
  if (times.length === 0) return '–';
  const sorted = [...times].sort((a, b) => a - b);
  return `${((sorted[Math.floor(sorted.length / 2)] ?? 0) / 1000).toFixed(2)}s, ${((sorted.at(-1) ?? 0) / 1000).toFixed(2)}s`;
}
