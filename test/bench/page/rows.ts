import type { AgentFigures } from '../agents/agents-bench.ts';
import type { Way } from '../agents/single.ts';
import type { FenceFigures } from '../fences.ts';
import type { Spread } from '../figures.ts';
import type { Figures } from '../figures-of-all.ts';
import { median } from '../median.ts';

/** One line of the table: what, against whom, what it is to be, what it is, and whether that is enough (absent: there is no goal). */
export type Row = readonly [what: string, against: string, goal: string, measured: string, isMet?: boolean];

type Measured = Omit<Figures, 'machine'>;
type Use = NonNullable<NonNullable<Measured['real']>['ours']>;

const INFORMERS = "client-node's informers";
const READY_MAX_MS = 2_000;
const FIRST_CALL_MAX_MS = { p50: 10, p99: 50 };
const STORM_MIN = { wall: 50, cpu: 80 };

export function rowsOf(figures: Measured): Row[] {
  return [
    ...realRows(figures.real),
    ...podRows(figures.pods),
    ...fenceRows(figures),
    ...agentRows(figures.agents ?? {}),
    ...failoverRows(figures),
    ...daemonRows(figures),
    ...otherRows(figures),
  ];
}

/** Ours beside theirs. */
function pair(ours: Use, theirs: Use, pick: (use: Use) => number, unit: string): string {
  return `${pick(ours)} : ${pick(theirs)} ${unit} (${(pick(theirs) / pick(ours)).toFixed(1)}x)`;
}

function isTimes(factor: number, ours: Use, theirs: Use, ...picks: readonly ((use: Use) => number)[]): boolean {
  return picks.every((pick) => pick(theirs) / pick(ours) >= factor);
}

const rss = ({ rssMb }: Use): number => rssMb;
const peak = ({ peakMb }: Use): number => peakMb;
const later = ({ laterRssMb }: Use): number => laterRssMb;
const event = ({ cpuMsPerEvent }: Use): number => cpuMsPerEvent;
const ready = ({ readyMs }: Use): number => median(readyMs);

/** The goal counts from the API server's first answer, where that is known. */
function startRow(ours: Use, theirs: Use, where: string): Row {
  const { answeredMs = [] } = ours;
  const what = `process start → ready (median), ${where}`;
  if (answeredMs.length === 0) return [what, INFORMERS, '≤ 2 s', pair(ours, theirs, ready, 'ms'), ready(ours) <= READY_MAX_MS];
  const fromAnswer = median(answeredMs);
  const measured = `${pair(ours, theirs, ready, 'ms')}; ${fromAnswer} ms after the first answer`;
  return [what, INFORMERS, "≤ 2 s after the API server's first answer", measured, fromAnswer <= READY_MAX_MS];
}

function realRows(real: Measured['real']): Row[] {
  const { ours, informers: theirs } = real ?? {};
  if (real === undefined || ours === undefined || theirs === undefined) return [];
  const where = `${real.nodes} nodes, ${real.pods} pods`;
  const memory = `${pair(ours, theirs, rss, 'MB')}, ${pair(ours, theirs, peak, 'MB')}`;
  const { firstPercent, later: settled } = ours;
  const heartbeats = '83 lease renewals and 4 Node statuses a second';
  return [
    startRow(ours, theirs, where),
    ['resident memory, peak', INFORMERS, '≤ 1/4', memory, isTimes(4, ours, theirs, rss, peak)],
    ['memory after the events', INFORMERS, '≤ 1/4', pair(ours, theirs, later, 'MB'), isTimes(4, ours, theirs, later)],
    ...(firstPercent === undefined
      ? []
      : [['after an installation: reports of all nodes', '–', '≤ 10% of a core', `${firstPercent} %`, firstPercent <= 10] as const]),
    ['idle', INFORMERS, '', `${ours.idlePercent} : ${theirs.idlePercent} %`],
    [heartbeats, INFORMERS, '≤ 5% of a core', `${ours.loadPercent} : ${theirs.loadPercent} %`, ours.loadPercent <= 5],
    ...(settled === undefined
      ? []
      : ([
          ['idle, once each BMC was read for the first time', '–', '', `${settled.idlePercent} %`],
          [`${heartbeats}, once each BMC was read for the first time`, '–', '≤ 5% of a core', `${settled.loadPercent} %`, settled.loadPercent <= 5],
        ] as const)),
    ['CPU for one event', INFORMERS, '≤ 1/3', pair(ours, theirs, event, 'ms'), isTimes(3, ours, theirs, event)],
    ...informerRows(real, where),
    ['/metrics', '–', '≤ 15 ms', `${ours.scrapeMs} ms, ${ours.scrapeLines} lines`, ours.scrapeMs <= 15],
  ];
}

/** What is compared does the same: three kinds are watched, and nothing is done with them. */
function informerRows({ ownInformers: ours, informers: theirs }: NonNullable<Measured['real']>, where: string): Row[] {
  if (ours === undefined || theirs === undefined) return [];
  const memory = `${pair(ours, theirs, rss, 'MB')}, ${pair(ours, theirs, peak, 'MB')}`;
  return [
    [`our informers alone: start → synced (median), ${where}`, INFORMERS, '≤ 1/3', pair(ours, theirs, ready, 'ms'), isTimes(3, ours, theirs, ready)],
    [`our informers alone: resident memory, peak, ${where}`, INFORMERS, '≤ 1/4', memory, isTimes(4, ours, theirs, rss, peak)],
    [`our informers alone: CPU for one event, ${where}`, INFORMERS, '≤ 1/3', pair(ours, theirs, event, 'ms'), isTimes(3, ours, theirs, event)],
  ];
}

/** Where most of what is read are pods: what their number adds to. */
function podRows(found: Measured['pods']): Row[] {
  const { ours, informers: theirs } = found ?? {};
  if (found === undefined || ours === undefined || theirs === undefined) return [];
  const where = `${found.nodes} nodes, ${found.pods} pods`;
  const memory = `${pair(ours, theirs, rss, 'MB')}, ${pair(ours, theirs, peak, 'MB')}`;
  return [
    [`process start → ready (median), ${where}`, INFORMERS, '≤ 1/3', pair(ours, theirs, ready, 'ms'), isTimes(3, ours, theirs, ready)],
    [`resident memory, peak, ${where}`, INFORMERS, '≤ 1/4', memory, isTimes(4, ours, theirs, rss, peak)],
    [`CPU for one event, ${where}`, INFORMERS, '≤ 1/3', pair(ours, theirs, event, 'ms'), isTimes(3, ours, theirs, event)],
    ...informerRows(found, where),
  ];
}

function fenceRows({ small, large, crowded, release, wave, storm }: Measured): Row[] {
  const rows: Row[] = [];
  if (small !== undefined) rows.push(...reaction('one at a time', small));
  if (large !== undefined) rows.push(...reaction(`among 1,000 events/s at ${large.nodes} nodes`, large));
  if (crowded !== undefined) {
    const how = `the same, ${(1_000 / crowded.everyMs).toFixed(1)} nodes failing each second`;
    rows.push(...reaction(how, crowded).map(([what, against, , measured]): Row => [what, against, '', measured]));
  }
  const { podsReleased } = release ?? {};
  if (podsReleased !== undefined) {
    const { pods, requests, tookMs, besidesMs } = podsReleased;
    const words = `${besidesMs.p50} ms beyond ${requests.p50} requests (${tookMs.p50} ms with them; p99 ${besidesMs.p99})`;
    rows.push([`verified off → ${pods} pods released`, '–', '≤ 100 ms beyond API calls', words, besidesMs.p99 <= 100]);
  }
  if (storm !== undefined) rows.push([`${storm.failed} nodes at once: decision`, '–', '≤ 100 ms CPU', `${storm.cpuMs} ms`, storm.cpuMs <= 100]);
  if (wave !== undefined) {
    const words = `${(wave.fences / (wave.drainedMs / 1_000)).toFixed(1)}/s begun of 20/s, ${wave.finished} of ${wave.fences} final; lag p99 ${wave.loopLag.p99Ms} ms`;
    const isMet = wave.finished === wave.fences && wave.loopLag.p99Ms <= 30;
    rows.push([`${wave.fences} nodes at once: the queue`, '–', 'the configured pace; event loop late by ≤ 30 ms (p99)', words, isMet]);
  }
  return rows;
}

/** A read of a device helps nobody: the off is held to the same goal. */
function reaction(how: string, { failedToFirstCall, failedToOff }: FenceFigures): Row[] {
  const max = FIRST_CALL_MAX_MS;
  const row = (what: string, { p50, p99, count }: Spread): Row => [
    `Node NotReady → ${what}, ${how}`,
    '–',
    `p50 ≤ ${max.p50} ms, p99 ≤ ${max.p99} ms`,
    `p50 ${p50} ms, p99 ${p99} ms (${count})`,
    p50 <= max.p50 && p99 <= max.p99,
  ];
  return [row('first device call', failedToFirstCall), row('off sent', failedToOff)];
}

const LONG = 'the same, in a process that has run for long';

/** By how many times ours is to be quicker than the first way of its table; 0: a way that is shown beside ours, and has no goal. */
const WAYS: Readonly<Record<'ipmi' | 'redfish' | 'pdu', Readonly<Record<string, number>>>> = {
  ipmi: {
    'ours, native RMCP+, warm: set + read': 500,
    [LONG]: 500,
    'its two datagrams made beforehand, no answer read': 0,
    'ours, ipmitool under a pty, warm: set + read': 100,
  },
  redfish: { 'ours, warm, TLS verified: set + read': 155 },
  pdu: { 'ours, warm: set + read': 30, [LONG]: 30, 'its three datagrams made beforehand, no answer read': 0 },
};

function wayRows(device: keyof typeof WAYS, title: string, ways: readonly Way[] = []): Row[] {
  const peer = ways[0]?.name ?? '';
  return ways.flatMap(({ name, offMs, ratio }): Row[] => {
    const goal = WAYS[device][name];
    if (goal === undefined) return [];
    const row = [`${title}: ${name}`, peer, goal === 0 ? '' : `≥ ${goal}x`, `${offMs.toFixed(2)} ms, ${ratio.toFixed(1)}x`] as const;
    return [goal === 0 ? [...row] : [...row, ratio >= goal]];
  });
}

function agentRows({ ipmi, redfish, pdu, storms = [], crowd, overhead }: AgentFigures): Row[] {
  const stormRows = storms.map(({ peer, machines, wallRatio, cpuRatio, isFloor = false }): Row => {
    const { wall, cpu } = STORM_MIN;
    const measured = `${wallRatio}x, ${cpuRatio}x CPU`;
    if (isFloor) return [`storm of ${machines}`, peer, '', measured];
    return [`storm of ${machines}`, peer, `≥ ${wall}x, ≥ ${cpu}x CPU`, measured, wallRatio >= wall && cpuRatio >= cpu];
  });
  const rows: Row[] = [...wayRows('ipmi', 'IPMI', ipmi), ...wayRows('redfish', 'Redfish', redfish), ...wayRows('pdu', 'PDU', pdu), ...stormRows];
  if (overhead !== undefined) {
    const { actsAfterMs, overMs, peerOverMs } = overhead;
    rows.push([
      `a BMC that acts after ${actsAfterMs} ms`,
      'fence_redfish',
      '≤ 48 ms',
      `known ${overMs} ms later, theirs ${peerOverMs} ms`,
      overMs <= 48,
    ]);
  }
  if (crowd !== undefined) {
    const { cold, warm } = crowd;
    const words = `event loop late by ${cold.loopLag.p99} ms (p99) cold, ${warm.loopLag.p99} ms warm`;
    const isMet = cold.loopLag.p99 <= 24 && warm.loopLag.p99 <= 12;
    rows.push([`${cold.machines} Redfish offs at once`, '–', '≤ 24 ms cold, ≤ 12 ms warm', words, isMet]);
  }
  return rows;
}

function failoverRows({ failover }: Measured): Row[] {
  if (failover === undefined) return [];
  const totals = failover.sums.map(({ who, totalMs }): Row => [
    `failover, device 2 s: ${who}`,
    'defaults, added up',
    '',
    `${(totalMs / 1_000).toFixed(1)} s`,
  ]);
  const { overheadMs, fastReleaseMs } = failover;
  return [
    ['failover: our own overhead', '–', '≤ 5 s', `${(overheadMs / 1_000).toFixed(1)} s (measured)`, overheadMs <= 5_000],
    ['failover: fast detection, power fails → pods released', '–', '', `${(fastReleaseMs / 1_000).toFixed(1)} s (virtual clock)`],
    ...totals,
  ];
}

function daemonRows({ nodeDaemon }: Measured): Row[] {
  if (nodeDaemon === undefined) return [];
  const { rssMb, rssMaxMb, idlePercent, idleMaxPercent } = nodeDaemon;
  return [
    ['node daemon: resident memory over a minute', '–', '≤ 70 MB', `${rssMb} MB (the largest ${rssMaxMb})`, rssMaxMb <= 70],
    ['node daemon: grants, watchdog, peers, checks', '–', '≤ 0.5% of a core', `${idlePercent} % (the most ${idleMaxPercent})`, idleMaxPercent <= 0.5],
  ];
}

function otherRows({ scrape, soak, simulation }: Measured): Row[] {
  const rows: Row[] = [];
  if (scrape !== undefined) {
    const { series, ours, promClient } = scrape;
    const words = `${ours.blockedMs} ms (${ours.totalMs} ms in all)`;
    rows.push([`scrape of ${series} series`, `prom-client: ${promClient.blockedMs} ms`, '≤ 10 ms of blocked loop', words, ours.blockedMs <= 10]);
  }
  if (soak !== undefined) {
    const { minutes, nodes, fences, filled, rssMb, heapMb } = soak;
    const words = `resident ${rssMb.early} → ${rssMb.late} MB (${rssMb.driftPercent}%), live heap ${heapMb.driftPercent}%`;
    const isMet = Math.abs(rssMb.driftPercent) <= 5;
    const failures = filled === undefined ? `${fences} failures` : `${fences - filled.fences} failures after the first of each`;
    rows.push([`soak: ${minutes} min, ${nodes} nodes, ${failures}`, '–', '≤ 5% drift, nothing leaked', words, isMet]);
  }
  if (simulation !== undefined) {
    const { hoursPerCpuSecond, fencesPerCpuSecond, seedsPerCpuSecond, growth } = simulation;
    const words = `${hoursPerCpuSecond} h of a cluster, ${fencesPerCpuSecond} fences (${seedsPerCpuSecond} seeds)`;
    rows.push(['simulation, for a second of CPU', '–', '', words]);
    const [least, most] = [growth[0], growth.at(-1)];
    if (least !== undefined && most !== undefined) {
      const cost = `${least.cpuUsPerNodeSecond} → ${most.cpuUsPerNodeSecond} µs per node and second, ${least.nodes} → ${most.nodes} nodes`;
      rows.push(['simulation: growth with nodes', '–', 'linear', cost, most.cpuUsPerNodeSecond <= least.cpuUsPerNodeSecond]);
    }
  }
  return rows;
}
