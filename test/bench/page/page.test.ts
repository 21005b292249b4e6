import { expect, it } from 'vitest';
import { graphsOf } from './graphs.ts';
import { pageOf } from './page.ts';
import type { Kept } from './page.ts';

const ORIGIN = { command: 'npm run -s bench -- --only storm --write', at: '2026-01-01T12:00', machine: '2 × some processor', load: 0.1 };
const KEPT: Kept = {
  figures: {
    storm: { nodes: 5_000, failed: 1_000, held: 1_000, cpuMs: 24.7, firstMs: 3.9 },
    nodeDaemon: {
      ...{ daemons: 5, seconds: 60, flags: '--lite-mode', keptMs: 30_000, startCpuMs: 400, rssMb: 66.7, rssMaxMb: 67, peakMb: 67 },
      ...{ idlePercent: 0.32, idleMaxPercent: 0.4, childrenPercent: 0.05 },
    },
    agents: { overhead: { actsAfterMs: 2_300, overMs: 49, peerOverMs: 1_277 } },
  },
  origins: { storm: ORIGIN, agents: { ...ORIGIN, command: 'npm run -s bench -- agents --write' } },
};

it('the page of figures has a line for each goal that was measured, and says how', () => {
  const page = pageOf(KEPT);
  expect(page).toContain('| 1000 nodes at once: decision | – | ≤ 100 ms CPU | 24.7 ms | yes |');
  expect(page).toContain('| a BMC that acts after 2300 ms | fence_redfish | ≤ 48 ms | known 49 ms later, theirs 1277 ms | **no** |');
  expect(page).toContain('`npm run -s bench -- agents --write`, 2026-01-01T12:00 UTC; 2 × some processor; load 0.1');
  expect(page).toContain('| node daemon: resident memory over a minute | – | ≤ 70 MB | 66.7 MB (the largest 67) | yes |');
  expect(page).not.toContain('scrape');
});

it.each([
  [[], '≤ 2 s', '2700 : 4700 ms (1.7x)', '**no**'],
  [[2_100, 1_900, 1_800], "≤ 2 s after the API server's first answer", '2700 : 4700 ms (1.7x); 1900 ms after the first answer', 'yes'],
])('a start counts from the first answer of the API server, where that is known: %j', (answeredMs, goal, measured, met) => {
  const use = {
    ...{ readyCpuMs: 2_800, rssMb: 137, peakMb: 148, heapUsedMb: 60, heapReservedMb: 65, idlePercent: 5, loadPercent: 8, cpuMsPerEvent: 0.3 },
    ...{ laterRssMb: 147, laterPeakMb: 148, scrapeMs: 4, scrapeLines: 656 },
  };
  const real = {
    ...{ server: 'Kubernetes', nodes: 5_000, pods: 15_000 },
    ours: { ...use, readyMs: [2_700, 2_600, 2_800], answeredMs },
    informers: { ...use, readyMs: [4_700] },
  };
  const page = pageOf({ figures: { ...KEPT.figures, real }, origins: { ...KEPT.origins, real: ORIGIN } });
  expect(page).toContain(`| process start → ready (median), 5000 nodes, 15000 pods | client-node's informers | ${goal} | ${measured} | ${met} |`);
});

it('graphs are drawn of several sizes of cluster, each value at its place', () => {
  const row = { nodes: 500, syncMs: 90, rssMb: 100, heapMb: 30, cpuMsPerEvent: 0.05 };
  expect(graphsOf([row])).toEqual({});
  const { 'bench-memory': memory = '' } = graphsOf([row, { ...row, nodes: 15_000, rssMb: 400 }]);
  expect(memory).toContain('>15,000</text>');
  const [small, large] = [...memory.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)]);
  expect(Number(large?.[0])).toBeGreaterThan(Number(small?.[0]));
  expect(Number(large?.[1])).toBeLessThan(Number(small?.[1]));
});
