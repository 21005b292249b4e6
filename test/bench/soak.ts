import { setTimeout as pause } from 'node:timers/promises';
import { ALL_KNOWN_WITHIN_MS, BenchCluster, LIVELY_NODE } from './cluster.ts';
import type { ControllerUse } from './cluster.ts';
import { comeBack, fail, renew, watchFinals } from './nodes.ts';
import { rounded } from './figures.ts';

export interface SoakFigures {
  nodes: number;
  /** Played, at so many times its pace. */
  minutes: number;
  speed: number;
  fences: number;
  finished: number;
  /** Mean of the second quarter and of the last one: the first one warms up. */
  rssMb: { early: number; late: number; driftPercent: number };
  heapMb: { early: number; late: number; driftPercent: number };
  /** Fences that had begun and were not final yet, in the same quarters: what is held for them is in the heap. */
  underWay?: { early: number; late: number };
  /** Live heap before the first failure, and when nothing of any fence was left. */
  restHeapMb?: { before: number; after: number };
  /** Sockets, timers, processes, files and watches before the first failure, and after the last fence has ended. */
  handlesBefore: Record<string, number>;
  handlesAfter: Record<string, number>;
}

const PERCENT_PER_MINUTE = 2;
const SAMPLES = 40;
/** As a day is to the time between two failures of a node: NodeFences that are final go as others come. */
const HISTORY_TTL = '1m';
const LAST_WITHIN_MS = 60_000;
/** The last NodeFence is gone after HISTORY_TTL, and every connection to the API server that nothing was asked on since was given up a minute later. */
const REST_MS = 150_000;

/** Nodes fail one after the other, `PERCENT_PER_MINUTE` of all a minute, `speed` times as fast, for `minutes` of that time. */
export async function measureSoak(nodes: number, minutes: number, speed: number, say: (line: string) => void): Promise<SoakFigures> {
  const bench = await BenchCluster.start(nodes, { historyTtl: HISTORY_TTL });
  const failures: string[] = [];
  const noted = (error: unknown): void => void failures.push(String(error));
  try {
    await bench.startController(
      (node, state) => {
        if (state === 'on') comeBack(bench, node).catch(noted);
      },
      { keepsCalls: false, knownWithinMs: ALL_KNOWN_WITHIN_MS },
    );
    const renewal = setInterval(() => void renew(bench, LIVELY_NODE).catch(noted), 1_000);
    const before = await bench.usage();
    const lastsMs = (minutes * 60_000) / speed;
    const everyMs = 60_000 / speed / ((nodes * PERCENT_PER_MINUTE) / 100);
    say(`${minutes} minutes in ${Math.round(lastsMs / 60_000)}: a node every ${Math.round(everyMs)} ms`);
    let isOver = false;
    const finals = watchFinals(bench, (why) => isOver || failures.push(why));
    const samples: ControllerUse[] = [];
    const underWay: number[] = [];
    const beganMs = performance.now();
    let fences = 0;
    while (performance.now() - beganMs < lastsMs) {
      await fail(bench, bench.nodes[fences % nodes] ?? '');
      fences += 1;
      if (performance.now() - beganMs >= ((samples.length + 1) * lastsMs) / SAMPLES) {
        underWay.push(fences - finals.count());
        samples.push(await bench.usage());
      }
      await pause(Math.max(0, beganMs + fences * everyMs - performance.now()));
    }
    const giveUpAtMs = performance.now() + LAST_WITHIN_MS;
    while (finals.count() < fences && performance.now() < giveUpAtMs) await pause(1_000);
    isOver = true;
    finals.close();
    await pause(REST_MS);
    const after = await bench.usage();
    clearInterval(renewal);
    if (failures.length > 0) throw new Error(`the bench itself failed: ${failures[0] ?? ''}`);
    const { handles: handlesBefore } = before;
    const [rssMb, heapMb] = [driftOf(samples.map((use) => use.rssMb)), driftOf(samples.map((use) => use.heapMb))];
    const { early, late } = driftOf(underWay);
    return {
      ...{ nodes, minutes, speed, fences, finished: finals.count(), rssMb, heapMb, underWay: { early, late } },
      ...{ restHeapMb: { before: before.heapMb, after: after.heapMb }, handlesBefore, handlesAfter: after.handles },
    };
  } finally {
    await bench.stop();
  }
}

function driftOf(samples: readonly number[]): { early: number; late: number; driftPercent: number } {
  const quarter = Math.floor(samples.length / 4);
  const mean = (some: readonly number[]): number => some.reduce((sum, value) => sum + value, 0) / some.length;
  const [early, late] = [mean(samples.slice(quarter, 2 * quarter)), mean(samples.slice(-quarter))];
  return { early: rounded(early), late: rounded(late), driftPercent: rounded(((late - early) / early) * 100) };
}

export function soakWords(figures: SoakFigures): string {
  const { nodes, minutes, speed, fences, finished, rssMb, heapMb, underWay, restHeapMb, handlesBefore, handlesAfter } = figures;
  const kinds = [...new Set([...Object.keys(handlesBefore), ...Object.keys(handlesAfter)])].toSorted();
  const held = kinds.map((kind) => `${kind} ${handlesBefore[kind] ?? 0} → ${handlesAfter[kind] ?? 0}`).join(', ');
  return [
    `soak: ${minutes} min at ${speed} times the pace, ${nodes} nodes, ${fences} failures, ${finished} fences final`,
    `resident ${rssMb.early} → ${rssMb.late} MB (${rssMb.driftPercent}%), live heap ${heapMb.early} → ${heapMb.late} MB (${heapMb.driftPercent}%)`,
    ...(underWay === undefined ? [] : [`fences under way meanwhile: ${underWay.early} → ${underWay.late}`]),
    ...(restHeapMb === undefined
      ? []
      : [`live heap before the first failure and at rest behind the last: ${restHeapMb.before} → ${restHeapMb.after} MB`]),
    `open: ${held}`,
  ].join('\n');
}
