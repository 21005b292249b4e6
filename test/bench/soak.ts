import { setTimeout as pause } from 'node:timers/promises';
import { ALL_KNOWN_WITHIN_MS, BenchCluster, LIVELY_NODE } from './cluster.ts';
import { comeBack, fail, renew, watchFinals } from './nodes.ts';
import { change, driftOf } from './soak-figures.ts';
import type { Sample, SoakFigures } from './soak-figures.ts';

const PERCENT_PER_MINUTE = 2;
const SAMPLES = 40;
/** As a day is to the time between two failures of a node: NodeFences that are final go as others come. */
const HISTORY_TTL = '1m';
const LAST_WITHIN_MS = 60_000;
/** The last NodeFence is gone after HISTORY_TTL, and every connection to the API server that nothing was asked on since was given up a minute later. */
const REST_MS = 150_000;

/** Nodes fail one after the other, `PERCENT_PER_MINUTE` of all a minute, `speed` times as fast: first each of them once, and then for `minutes` of that time. */
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
    const minutesMs = (minutes * 60_000) / speed;
    const everyMs = 60_000 / speed / ((nodes * PERCENT_PER_MINUTE) / 100);
    say(`each node once, then ${minutes} minutes in ${Math.round(minutesMs / 60_000)}: a node every ${Math.round(everyMs)} ms`);
    let isOver = false;
    const finals = watchFinals(bench, (why) => isOver || failures.push(why));
    const samples: Sample[] = [];
    const beganMs = performance.now();
    let fences = 0;
    while (fences < nodes || performance.now() - beganMs < nodes * everyMs + minutesMs) {
      await fail(bench, bench.nodes[fences % nodes] ?? '');
      fences += 1;
      if (performance.now() - beganMs >= ((samples.length + 1) * minutesMs) / SAMPLES) {
        samples.push({ fences, underWay: fences - finals.count(), use: await bench.usage() });
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
    return {
      ...{ nodes, minutes, speed, fences, finished: finals.count(), ...driftOf(nodes, before, samples) },
      ...{ restHeapMb: change(before.heapMb, after.heapMb), handlesBefore: before.handles, handlesAfter: after.handles },
    };
  } finally {
    await bench.stop();
  }
}
