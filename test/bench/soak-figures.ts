import type { ControllerUse } from './cluster.ts';
import { rounded } from './figures.ts';

export interface SoakFigures {
  nodes: number;
  /** Played, at so many times its pace. */
  minutes: number;
  speed: number;
  fences: number;
  finished: number;
  /** Mean of the first quarter of these minutes and of the last one. */
  rssMb: Drift;
  heapMb: Drift;
  /** Before these minutes, and not among them: the first failure of each node. */
  filled?: { fences: number; rssMb: Change; heapMb: Change };
  /** Fences that had begun and were not final yet, in the same quarters: what is held for them is in the heap. */
  underWay?: { early: number; late: number };
  /** Live heap before the first failure, and when nothing of any fence was left. */
  restHeapMb?: Change;
  /** Sockets, timers, processes, files and watches before the first failure, and after the last fence has ended. */
  handlesBefore: Record<string, number>;
  handlesAfter: Record<string, number>;
}

interface Drift {
  early: number;
  late: number;
  driftPercent: number;
}

interface Change {
  before: number;
  after: number;
}

type Memory = Pick<ControllerUse, 'rssMb' | 'heapMb'>;

export interface Sample {
  /** Failures until then. */
  fences: number;
  underWay: number;
  use: Memory;
}

/**
 * What the samples of a soak say. The first failure of each node fills what is bounded: a record for each node, tables of the last 4,096 fences and Events,
 * compiled code, and pages of the heap that stay partly empty. A comparison that begins before measures how full they are; what leaks goes on behind it.
 */
export function driftOf(
  nodes: number,
  before: Memory,
  samples: readonly Sample[],
): Required<Pick<SoakFigures, 'rssMb' | 'heapMb' | 'underWay' | 'filled'>> {
  const [filling, compared] = [samples.filter(({ fences }) => fences <= nodes), samples.filter(({ fences }) => fences > nodes)];
  const after = filling.at(-1)?.use ?? before;
  const { early, late } = drift(compared.map(({ underWay }) => underWay));
  return {
    rssMb: drift(compared.map(({ use }) => use.rssMb)),
    heapMb: drift(compared.map(({ use }) => use.heapMb)),
    underWay: { early, late },
    filled: { fences: nodes, rssMb: change(before.rssMb, after.rssMb), heapMb: change(before.heapMb, after.heapMb) },
  };
}

export function change(before: number, after: number): Change {
  return { before: rounded(before), after: rounded(after) };
}

function drift(values: readonly number[]): Drift {
  const quarter = Math.floor(values.length / 4);
  const mean = (some: readonly number[]): number => some.reduce((sum, value) => sum + value, 0) / some.length;
  const [early, late] = [mean(values.slice(0, quarter)), mean(values.slice(-quarter))];
  return { early: rounded(early), late: rounded(late), driftPercent: rounded(((late - early) / early) * 100) };
}

export function soakWords(figures: SoakFigures): string {
  const { nodes, minutes, speed, fences, finished, rssMb, heapMb, filled, underWay, restHeapMb, handlesBefore, handlesAfter } = figures;
  const kinds = [...new Set([...Object.keys(handlesBefore), ...Object.keys(handlesAfter)])].toSorted();
  const held = kinds.map((kind) => `${kind} ${handlesBefore[kind] ?? 0} → ${handlesAfter[kind] ?? 0}`).join(', ');
  return [
    `soak: ${minutes} min at ${speed} times the pace, ${nodes} nodes, ${fences} failures, ${finished} fences final`,
    ...(filled === undefined ? [] : [filledWords(filled)]),
    `resident ${rssMb.early} → ${rssMb.late} MB (${rssMb.driftPercent}%), live heap ${heapMb.early} → ${heapMb.late} MB (${heapMb.driftPercent}%)`,
    ...(underWay === undefined ? [] : [`fences under way meanwhile: ${underWay.early} → ${underWay.late}`]),
    ...(restHeapMb === undefined
      ? []
      : [`live heap before the first failure and at rest behind the last: ${restHeapMb.before} → ${restHeapMb.after} MB`]),
    `open: ${held}`,
  ].join('\n');
}

function filledWords({ fences, rssMb, heapMb }: NonNullable<SoakFigures['filled']>): string {
  const [resident, live] = [`resident ${rssMb.before} → ${rssMb.after} MB`, `live heap ${heapMb.before} → ${heapMb.after} MB`];
  return `before that each node failed once (${fences}), which fills what is bounded (records of nodes, tables, code, pages): ${resident}, ${live}`;
}
