import type { AgentFigures } from '../agents/agents-bench.ts';
import type { FenceFigures } from '../fences.ts';
import type { Figures } from '../figures-of-all.ts';
import { median } from '../median.ts';

/** One line of the table: what, against whom, what it is to be, and what it is. */
export type Row = readonly [what: string, against: string, goal: string, measured: string];

type Measured = Omit<Figures, 'machine'>;
type Use = NonNullable<NonNullable<Measured['real']>['ours']>;

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

function realRows(real: Measured['real']): Row[] {
  const { ours, informers: theirs } = real ?? {};
  if (real === undefined || ours === undefined || theirs === undefined) return [];
  const pair = (pick: (use: Use) => number, unit: string): string => `${pick(ours)} : ${pick(theirs)} ${unit}`;
  const [peer, where] = ["client-node's informers", `${real.nodes} nodes, ${real.pods} pods`];
  return [
    [`process start → ready (median), ${where}`, peer, '≤ 2 s', pair(({ readyMs }) => median(readyMs), 'ms')],
    ['resident memory, peak', peer, '≤ 1/4', `${pair(({ rssMb }) => rssMb, 'MB')}, ${pair(({ peakMb }) => peakMb, 'MB')}`],
    ['memory after the events', peer, '≤ 1/4', pair(({ laterRssMb }) => laterRssMb, 'MB')],
    ['after an installation: reports of all nodes', '–', '≤ 10% of a core', `${ours.firstPercent ?? '–'} %`],
    ['idle', peer, '–', pair(({ idlePercent }) => idlePercent, '%')],
    ['83 lease renewals and 4 Node statuses a second', peer, '≤ 5% of a core', pair(({ loadPercent }) => loadPercent, '%')],
    ['CPU for one event', peer, '≤ 1/3', pair(({ cpuMsPerEvent }) => cpuMsPerEvent, 'ms')],
    ['/metrics', '–', 'holds', `${ours.scrapeMs} ms, ${ours.scrapeLines} lines`],
  ];
}

/** Where most of what is read are pods: what their number adds to. */
function podRows(found: Measured['pods']): Row[] {
  const { ours, informers: theirs } = found ?? {};
  if (found === undefined || ours === undefined || theirs === undefined) return [];
  const where = `${found.nodes} nodes, ${found.pods} pods`;
  const peer = "client-node's informers";
  return [
    [`resident memory, peak, ${where}`, peer, '≤ 1/4', `${ours.rssMb} : ${theirs.rssMb} MB, ${ours.peakMb} : ${theirs.peakMb} MB`],
    [`CPU until ready, ${where}`, peer, '', `${ours.readyCpuMs} : ${theirs.readyCpuMs} ms`],
    [`CPU for one event, ${where}`, peer, '≤ 1/3', `${ours.cpuMsPerEvent} : ${theirs.cpuMsPerEvent} ms`],
  ];
}

function fenceRows({ small, large, release, wave, storm }: Measured): Row[] {
  const rows: Row[] = [];
  if (small !== undefined) rows.push(['Node NotReady → first device call, one at a time', '–', 'p50 ≤ 10 ms, p99 ≤ 50 ms', spread(small)]);
  if (large !== undefined) rows.push([`the same among 1,000 events/s at ${large.nodes} nodes`, '–', 'p50 ≤ 10 ms, p99 ≤ 50 ms', spread(large)]);
  const { podsReleased } = release ?? {};
  if (podsReleased !== undefined) {
    const { pods, requests, tookMs, besidesMs } = podsReleased;
    const words = `${besidesMs.p50} ms beyond ${requests.p50} requests (${tookMs.p50} ms with them; p99 ${besidesMs.p99})`;
    rows.push([`verified off → ${pods} pods released`, '–', '≤ 100 ms beyond API calls', words]);
  }
  if (storm !== undefined) rows.push([`${storm.failed} nodes at once: decision`, '–', '≤ 100 ms CPU', `${storm.cpuMs} ms`]);
  if (wave !== undefined) {
    const words = `${(wave.fences / (wave.drainedMs / 1_000)).toFixed(1)}/s begun of 20/s, ${wave.finished} of ${wave.fences} final; lag p99 ${wave.loopLag.p99Ms} ms`;
    rows.push([`${wave.fences} nodes at once: the queue`, '–', 'the configured pace; event loop late by ≤ 30 ms (p99)', words]);
  }
  return rows;
}

function spread({ failedToFirstCall: { p50, p99, count } }: FenceFigures): string {
  return `p50 ${p50} ms, p99 ${p99} ms (${count})`;
}

function agentRows({ ipmi = [], redfish = [], pdu = [], storms = [], crowd, overhead }: AgentFigures): Row[] {
  const ways = [...ipmi, ...redfish, ...pdu].map(({ name, offMs, ratio }): Row => [
    `off and verified: ${name}`,
    'the slowest way of its table',
    '',
    `${offMs.toFixed(2)} ms, ${ratio.toFixed(1)}x`,
  ]);
  const stormRows = storms.map(({ peer, machines, wallRatio, cpuRatio }): Row => [
    `storm of ${machines}`,
    peer,
    '≥ 50x, ≥ 80x CPU',
    `${wallRatio}x, ${cpuRatio}x CPU`,
  ]);
  const rows: Row[] = [...ways, ...stormRows];
  if (overhead !== undefined) {
    const { actsAfterMs, overMs, peerOverMs } = overhead;
    rows.push([`a BMC that acts after ${actsAfterMs} ms`, 'fence_redfish', 'holds', `known ${overMs} ms later, theirs ${peerOverMs} ms`]);
  }
  if (crowd !== undefined) {
    const { cold, warm } = crowd;
    rows.push([
      `${cold.machines} Redfish offs at once`,
      '–',
      'holds',
      `event loop late by ${cold.loopLag.p99} ms (p99) cold, ${warm.loopLag.p99} ms warm`,
    ]);
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
  return [
    ['failover: our own overhead', '–', '≤ 5 s', `${(failover.overheadMs / 1_000).toFixed(1)} s (measured)`],
    ['failover: fast detection, power fails → pods released', '–', '', `${(failover.fastReleaseMs / 1_000).toFixed(1)} s (virtual clock)`],
    ...totals,
  ];
}

function daemonRows({ nodeDaemon }: Measured): Row[] {
  if (nodeDaemon === undefined) return [];
  const { rssMb, rssMaxMb, idlePercent, idleMaxPercent } = nodeDaemon;
  return [
    ['node daemon: resident memory over a minute', '–', '≤ 70 MB', `${rssMb} MB (the largest ${rssMaxMb})`],
    ['node daemon: grants, watchdog, peers, checks', '–', '≤ 0.5% of a core', `${idlePercent} % (the most ${idleMaxPercent})`],
  ];
}

function otherRows({ scrape, soak, simulation }: Measured): Row[] {
  const rows: Row[] = [];
  if (scrape !== undefined) {
    const { series, ours, promClient } = scrape;
    rows.push([
      `scrape of ${series} series`,
      `prom-client: ${promClient.blockedMs} ms`,
      '≤ 10 ms of blocked loop',
      `${ours.blockedMs} ms (${ours.totalMs} ms in all)`,
    ]);
  }
  if (soak !== undefined) {
    const words = `resident ${soak.rssMb.early} → ${soak.rssMb.late} MB (${soak.rssMb.driftPercent}%), live heap ${soak.heapMb.driftPercent}%`;
    rows.push([`soak: ${soak.minutes} min, ${soak.nodes} nodes, ${soak.fences} failures`, '–', '≤ 5% drift, nothing leaked', words]);
  }
  if (simulation !== undefined) {
    const { hoursPerCpuSecond, fencesPerCpuSecond, seedsPerCpuSecond } = simulation;
    const words = `${hoursPerCpuSecond} h of a cluster, ${fencesPerCpuSecond} fences (${seedsPerCpuSecond} seeds)`;
    rows.push(['simulation, for a second of CPU', '–', '', words]);
  }
  return rows;
}
