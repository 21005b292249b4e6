import { graphOf } from '../graph.ts';
import type { SizeCost } from '../sizes.ts';

/** Cost against nodes, by the name of its file. */
export function graphsOf(sizes: readonly SizeCost[]): Record<string, string> {
  if (sizes.length < 2) return {};
  const of = (title: string, unit: string, pick: (row: SizeCost) => number): string =>
    graphOf({ title, unit, across: 'nodes', points: sizes.map((row) => [row.nodes, pick(row)] as const) });
  return {
    'bench-cpu': of('CPU for one event', 'µs', ({ cpuMsPerEvent }) => cpuMsPerEvent * 1_000),
    'bench-memory': of('Resident memory', 'MB', ({ rssMb }) => rssMb),
    'bench-sync': of('Time of the first sync', 'ms', ({ syncMs }) => syncMs),
  };
}
