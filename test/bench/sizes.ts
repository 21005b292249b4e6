import { setTimeout as pause } from 'node:timers/promises';
import { BenchCluster } from './cluster.ts';
import { rounded, tableOf } from './figures.ts';

/** The controller's cost in a cluster of so many nodes, nothing of which fails. */
export interface SizeCost {
  nodes: number;
  syncMs: number;
  rssMb: number;
  heapMb: number;
  /** CPU for one renewal of a Lease that its watch brings, to a tenth of a microsecond. */
  cpuMsPerEvent: number;
}

const EVENTS_PER_SECOND = 1_000;
const WINDOW_MS = 5_000;
const QUIET_WINDOW_MS = 2_000;
const QUIET_SHARE = 0.05;
const QUIET_WITHIN_MS = 60_000;

export const SIZES: readonly number[] = [500, 1_500, 5_000, 15_000];

export async function measureSizes(sizes: readonly number[], say: (line: string) => void): Promise<SizeCost[]> {
  const rows: SizeCost[] = [];
  for (const nodes of sizes) {
    say(`sizes: ${nodes} nodes`);
    rows.push(await one(nodes));
  }
  return rows;
}

async function one(nodes: number): Promise<SizeCost> {
  const bench = await BenchCluster.start(nodes);
  try {
    const syncMs = await bench.startController(() => undefined);
    await untilQuiet(bench);
    const idleMs = await cpuOf(bench, WINDOW_MS);
    bench.renewLeases(bench.nodes, EVENTS_PER_SECOND);
    const busyMs = await cpuOf(bench, WINDOW_MS);
    bench.renewLeases([], 0);
    const { rssMb, heapMb } = await bench.usage();
    const events = (EVENTS_PER_SECOND * WINDOW_MS) / 1_000;
    return {
      nodes,
      syncMs: rounded(syncMs),
      rssMb: Math.round(rssMb),
      heapMb: Math.round(heapMb),
      cpuMsPerEvent: Math.round(((busyMs - idleMs) / events) * 10_000) / 10_000,
    };
  } finally {
    await bench.stop();
  }
}

/** Reports of new nodes are written for a while after the start. */
async function untilQuiet(bench: BenchCluster): Promise<void> {
  const giveUpAtMs = performance.now() + QUIET_WITHIN_MS;
  while ((await cpuOf(bench, QUIET_WINDOW_MS)) > QUIET_WINDOW_MS * QUIET_SHARE && performance.now() < giveUpAtMs);
}

async function cpuOf(bench: BenchCluster, withinMs: number): Promise<number> {
  const before = await bench.usage();
  await pause(withinMs);
  return (await bench.usage()).cpuMs - before.cpuMs;
}

export function sizeWords(rows: readonly SizeCost[]): string {
  const head = ['nodes', 'sync ms', 'resident MB', 'live heap MB', 'CPU µs per event'];
  return tableOf([head, ...rows.map((row) => [row.nodes, row.syncMs, row.rssMb, row.heapMb, rounded(row.cpuMsPerEvent * 1_000)].map(String))]);
}
