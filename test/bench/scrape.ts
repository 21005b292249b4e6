import { setTimeout as pause } from 'node:timers/promises';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { Exposition } from '../../src/telemetry/exposition.ts';
import { rounded } from './figures.ts';

/** Milliseconds: the CPU of a whole page, and the longest turn of the event loop in it, by the clock: a thread's CPU is counted in ticks of 4 ms. Medians of the rounds. */
export interface PageFigures {
  totalMs: number;
  blockedMs: number;
}

export interface ScrapeFigures {
  series: number;
  ours: PageFigures;
  /** `registry.metrics()` of prom-client on the same series. */
  promClient: PageFigures;
}

const ROUNDS = 15;

/** Pages of `series` series, a third of them in histograms: ours and prom-client's in turn. */
export async function measureScrape(series = 30_000): Promise<ScrapeFigures> {
  const registry = filled(series);
  const exposition = new Exposition(registry);
  const [ours, promClient]: [PageFigures[], PageFigures[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await pageOf(() => exposition.render()));
    promClient.push(await pageOf(() => registry.metrics()));
  }
  return { series, ours: middleOf(ours), promClient: middleOf(promClient) };
}

export function scrapeWords({ series, ours, promClient }: ScrapeFigures): string {
  const words = ({ totalMs, blockedMs }: PageFigures): string => `${totalMs} ms of CPU, the event loop blocked for ${blockedMs} ms at most`;
  return `scrape of ${series} series: ${words(ours)}; prom-client's own page: ${words(promClient)} (medians)`;
}

function filled(series: number): Registry {
  const registry = new Registry();
  const registers = [registry];
  const third = Math.floor(series / 3);
  const labelNames = ['node', 'agent'];
  const labels = (number: number): Record<string, string> => ({ node: `node-${number}.zone-${number % 3}.example`, agent: 'redfish' });
  const gauge = new Gauge({ name: 'gauge', help: 'A gauge.', labelNames, registers });
  const counter = new Counter({ name: 'counter_total', help: 'A counter.', labelNames, registers });
  // Eight buckets, the last one without an end, sum and count: ten lines each.
  const buckets = [0.1, 0.3, 1, 3, 10, 30, 100];
  const histogram = new Histogram({ name: 'seconds', help: 'A histogram.', labelNames, buckets, registers });
  for (let number = 0; number < third; number += 1) {
    gauge.set(labels(number), number);
    counter.inc(labels(number));
    if (number % 10 === 0) histogram.observe(labels(number), number % 7);
  }
  return registry;
}

async function pageOf(render: () => Promise<string>): Promise<PageFigures> {
  // Garbage of the page before is not this one's.
  await pause(20);
  const beganMs = threadMs();
  let [longestMs, turnMs, isOver] = [0, performance.now(), false];
  const turn = (): void => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - turnMs);
    turnMs = nowMs;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await render();
  isOver = true;
  turn();
  return { totalMs: threadMs() - beganMs, blockedMs: longestMs };
}

/** What this thread has used: a busy machine does not add to it. */
function threadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

function middleOf(pages: readonly PageFigures[]): PageFigures {
  const middle = (pick: (page: PageFigures) => number): number =>
    rounded(pages.map(pick).toSorted((a, b) => a - b)[Math.floor(pages.length / 2)] ?? Number.NaN);
  return { totalMs: middle(({ totalMs }) => totalMs), blockedMs: middle(({ blockedMs }) => blockedMs) };
}
