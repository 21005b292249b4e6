import { mkdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundlePrograms } from '../../../scripts/supply/bundle.ts';
import { assetsLine, findAssets } from '../../../src/testbed/control-plane/assets.ts';
import { freePorts } from '../../../src/testbed/control-plane/free-port.ts';
import { CONTROLLER_USER } from '../../scenarios/witness.ts';
import { rounded, tableOf } from '../figures.ts';
import { median } from '../median.ts';
import { outputOf } from '../programs.ts';
import { FilledServer } from './filled-server.ts';
import { Reader } from './reader.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const READY_MS = 120_000;
const SETTLE_MS = 15_000;
const PHASE_MS = 30_000;
const RENEWALS_PER_SECOND = 83;
const REPORTS_PER_SECOND = 4;
const SECOND_MS = 1_000;
const TICKS_MS = 20;
const SCRAPES = 20;
const STARTS = 3;
/** Within `probe_interval` after its start a leader reads each device for the first time, which takes two requests more than later. */
const FIRST_READS_MS = 620_000;

interface Use {
  /** Process start until all that it waits for was read. */
  readyMs: readonly number[];
  /** Of each of these starts, the part after the API server had answered for the first time. Empty: the program does not tell. */
  answeredMs?: readonly number[];
  readyCpuMs: number;
  rssMb: number;
  peakMb: number;
  heapUsedMb: number;
  heapReservedMb: number;
  /** Of the controller after its installation, while the reports of all nodes are made. */
  firstPercent?: number;
  /** Share of one core, in percent. */
  idlePercent: number;
  loadPercent: number;
  /** The same once each device was read for the first time. */
  later?: { idlePercent: number; loadPercent: number };
  cpuMsPerEvent: number;
  /** After the events. */
  laterRssMb: number;
  laterPeakMb: number;
  scrapeMs: number;
  scrapeLines: number;
}

export interface RealFigures {
  server: string;
  nodes: number;
  pods: number;
  /** Absent: there is no real server here. */
  ours?: Use;
  informers?: Use;
  /** Our informers of the same kinds and nothing else: what is compared with theirs is no more than they do. */
  ownInformers?: Use;
}

interface Program {
  command: (port: number) => readonly string[];
  environment: Readonly<Record<string, string>>;
  log: string;
}

/** The compiled controller in observe mode and the field's informers, by turns, against a real API server with as many objects as a large cluster has. */
export async function measureReal(
  { nodes, pods, isLong }: { nodes: number; pods: number; isLong: boolean },
  say: (line: string) => void,
): Promise<RealFigures> {
  const server = assetsLine(process.env);
  if (findAssets(process.env, ['etcd', 'kube-apiserver']) === undefined) return { server, nodes, pods };
  say('measuring against a real API server: building and filling');
  await outputOf(['scripts/run.mjs', 'build']);
  const filled = await FilledServer.start(nodes, pods);
  try {
    const folder = join(filled.server.folder, 'readers');
    mkdirSync(folder);
    const ours = controller(filled.server.kubeconfig(CONTROLLER_USER), folder);
    const theirs = informers(filled.server.kubeconfig('operator'), folder);
    const alone = await ownInformers(filled.server.kubeconfig(CONTROLLER_USER), folder);
    const starts: [Start[], Start[], Start[]] = [[], [], []];
    for (let round = 1; round < STARTS; round += 1) {
      say(`starts, round ${round} of ${STARTS}`);
      starts[0].push(await startTime(ours));
      starts[1].push(await startTime(theirs));
      starts[2].push(await startTime(alone));
    }
    say('the controller: after its installation');
    const firstPercent = await firstUse(ours);
    await filled.fillReports();
    say('the controller: start, idle, load, events');
    const own = await measureProgram(ours, filled, starts[0], isLong ? FIRST_READS_MS : 0);
    say('client-node: the same');
    const peer = await measureProgram(theirs, filled, starts[1], 0);
    say('our informers alone: the same');
    const informersAlone = await measureProgram(alone, filled, starts[2], 0);
    return { server, nodes, pods, ours: { ...own, firstPercent }, informers: peer, ownInformers: informersAlone };
  } finally {
    await filled.end();
  }
}

function controller(kubeconfig: string, folder: string): Program {
  const profile = process.env['BENCH_PROFILE'] === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${process.env['BENCH_PROFILE']}`];
  const flags = process.env['BENCH_NODE_FLAGS']?.split(' ') ?? shippedFlags();
  return {
    command: (port) => [
      ...profile,
      ...flags,
      join(ROOT, 'dist/src/main.js'),
      'controller',
      '--mode',
      'observe',
      '--device-addresses',
      '127.0.0.0/8',
      '--http-address',
      `127.0.0.1:${port}`,
    ],
    environment: { ...shippedVariables(), KUBECONFIG: kubeconfig },
    log: join(folder, 'controller.log'),
  };
}

/** Bundled and started as the controller is. */
async function ownInformers(kubeconfig: string, folder: string): Promise<Program> {
  const out = join(folder, 'own-informers');
  await bundlePrograms(['test/bench/real/own-informers/main.ts'], { out, outside: [] });
  return {
    command: (port) => [...shippedFlags(), join(out, 'main.js'), String(port)],
    environment: { ...shippedVariables(), KUBECONFIG: kubeconfig },
    log: join(folder, 'own-informers.log'),
  };
}

/** With which the image starts it. */
function shippedFlags(): string[] {
  const entry = /^ENTRYPOINT (\[.*\])$/m.exec(dockerfile())?.[1] ?? '[]';
  return (JSON.parse(entry) as string[]).filter((word) => word.startsWith('--'));
}

function shippedVariables(): Record<string, string> {
  return Object.fromEntries([...dockerfile().matchAll(/^ENV (\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [name, value]));
}

function dockerfile(): string {
  return readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
}

function informers(kubeconfig: string, folder: string): Program {
  return {
    command: (port) => [fileURLToPath(new URL('informers/main.ts', import.meta.url)), String(port)],
    environment: { KUBECONFIG: kubeconfig },
    log: join(folder, 'informers.log'),
  };
}

interface Start {
  readyMs: number;
  /** See `Use.answeredMs`. */
  answeredMs?: number;
}

async function started({ command, environment, log }: Program): Promise<{ reader: Reader; port: number; start: Start }> {
  const [port = 0] = await freePorts('127.0.0.1', 1);
  const reader = new Reader(command(port), environment, log);
  const readyMs = await reader.untilReady(async () => (await page(port, '/readyz')).status === 200, READY_MS);
  const answeredAtMs = firstAnswerAtMs(reader.log());
  const start = { readyMs, ...(answeredAtMs === undefined ? {} : { answeredMs: Math.round(reader.startedWallMs + readyMs - answeredAtMs) }) };
  return { reader, port, start };
}

/** The controller says that it starts once the API server has told its version. Milliseconds since 1970. */
function firstAnswerAtMs(log: string): number | undefined {
  const line = log.split('\n').find((text) => text.includes('"message":"starting"'));
  return line === undefined ? undefined : Date.parse((JSON.parse(line) as { time: string }).time);
}

async function startTime(program: Program): Promise<Start> {
  const { reader, start } = await started(program);
  await reader.end();
  return start;
}

/** While reports are made. */
async function firstUse(program: Program): Promise<number> {
  const { reader } = await started(program);
  try {
    await pause(SETTLE_MS);
    return await shareOf(reader, () => pause(PHASE_MS));
  } finally {
    await reader.end();
  }
}

/** With `laterMs`, idle and load once more so long after the start. */
async function measureProgram(program: Program, filled: FilledServer, before: readonly Start[], laterMs: number): Promise<Use> {
  const { reader, port, start } = await started(program);
  const readyAtMs = performance.now();
  try {
    const readyCpuMs = reader.cpuMs();
    await pause(SETTLE_MS);
    const idlePercent = await shareOf(reader, () => pause(PHASE_MS));
    const loadPercent = await shareOf(reader, () => heartbeats(filled, PHASE_MS));
    const memory = reader.memory();
    const heap = (await page(port, '/metrics')).body;
    const { count, usedMs, lastedMs } = await useOfEvents(reader, filled, idlePercent);
    const { rssMb: laterRssMb, peakMb: laterPeakMb } = reader.memory();
    // What the program takes idle differs from one half minute to the next.
    const idleMs = (lastedMs * (idlePercent + (await shareOf(reader, () => pause(PHASE_MS))))) / 2 / 100;
    const cpuMsPerEvent = Math.round(((usedMs - idleMs) / count) * 10_000) / 10_000;
    const starts = [...before, start];
    const answeredMs = starts.flatMap((each) => each.answeredMs ?? []);
    const figures = {
      readyMs: starts.map((each) => each.readyMs),
      answeredMs,
      readyCpuMs,
      ...memory,
      idlePercent,
      loadPercent,
      cpuMsPerEvent,
      laterRssMb,
      laterPeakMb,
    };
    const later = laterMs === 0 ? {} : { later: await usedLater(reader, filled, readyAtMs + laterMs) };
    return {
      ...figures,
      ...later,
      heapUsedMb: megabytes(heap, 'nodejs_heap_size_used_bytes'),
      heapReservedMb: megabytes(heap, 'nodejs_heap_size_total_bytes'),
      ...(await scrapeTime(port)),
    };
  } finally {
    await reader.end();
  }
}

async function usedLater(reader: Reader, filled: FilledServer, atMs: number): Promise<NonNullable<Use['later']>> {
  await pause(Math.max(0, atMs - performance.now()));
  const idlePercent = await shareOf(reader, () => pause(PHASE_MS));
  return { idlePercent, loadPercent: await shareOf(reader, () => heartbeats(filled, PHASE_MS)) };
}

/** CPU time over wall time, in percent of one core. */
async function shareOf(reader: Reader, work: () => Promise<unknown>): Promise<number> {
  const [cpu, at] = [reader.cpuMs(), performance.now()];
  await work();
  return rounded(((reader.cpuMs() - cpu) / (performance.now() - at)) * 100);
}

/** What kubelets of 5,000 nodes write, at an even pace. */
async function heartbeats(filled: FilledServer, durationMs: number): Promise<void> {
  const beganMs = performance.now();
  const paced = async (perSecond: number, send: (number: number) => Promise<void>): Promise<void> => {
    const sent: Promise<void>[] = [];
    for (let number = 0; performance.now() - beganMs < durationMs; number += 1) {
      await pause(Math.max(0, beganMs + (number * 1_000) / perSecond - performance.now()));
      sent.push(send(number % filled.nodes));
    }
    await Promise.all(sent);
  };
  await Promise.all([paced(RENEWALS_PER_SECOND, (number) => filled.renew(number)), paced(REPORTS_PER_SECOND, (number) => filled.report(number))]);
}

/** CPU and wall milliseconds of so many events; all have been read when no more time is used. */
async function useOfEvents(reader: Reader, filled: FilledServer, idlePercent: number): Promise<{ count: number; usedMs: number; lastedMs: number }> {
  const [before, beganMs] = [reader.cpuMs(), performance.now()];
  const count = await filled.changeSome('changed');
  for (let last = -1; reader.cpuMs() - last > SECOND_MS * (idlePercent / 100) + TICKS_MS;) {
    last = reader.cpuMs();
    await pause(SECOND_MS);
  }
  return { count, usedMs: reader.cpuMs() - before, lastedMs: performance.now() - beganMs };
}

async function scrapeTime(port: number): Promise<{ scrapeMs: number; scrapeLines: number }> {
  const times: number[] = [];
  let lines = 0;
  for (let number = 0; number < SCRAPES; number += 1) {
    const at = performance.now();
    lines = (await page(port, '/metrics')).body.split('\n').length - 1;
    times.push(performance.now() - at);
  }
  return { scrapeMs: rounded(times.sort((a, b) => a - b)[SCRAPES / 2] ?? Number.NaN), scrapeLines: lines };
}

function megabytes(metrics: string, name: string): number {
  return rounded(Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]) / 2 ** 20);
}

function page(port: number, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    const parts: string[] = [];
    const call = request({ host: '127.0.0.1', port, path, agent: false }, (response) => {
      response.setEncoding('utf8').on('data', (part: string) => parts.push(part));
      response.once('close', () => resolve({ status: response.statusCode ?? 0, body: parts.join('') }));
    });
    call.once('error', () => resolve({ status: 0, body: '' }));
    call.end();
  });
}

/** As the table of the page. */
export function realWords({ server, nodes, pods, ours, informers: theirs, ownInformers: alone }: RealFigures): string {
  if (ours === undefined || theirs === undefined) return `nothing measured; ${server}`;
  const row = (name: string, of: (use: Use) => number, unit: string): string[] => {
    const [own, other] = [of(ours), of(theirs)];
    const more = alone === undefined ? [] : [`${of(alone)} ${unit}`, `${rounded(other / of(alone))} : 1`];
    return [name, `${own} ${unit}`, `${other} ${unit}`, `${rounded(other / own)} : 1`, ...more];
  };
  const rows = [
    ['', 'nodefence', 'client-node', 'ratio', ...(alone === undefined ? [] : ['our informers alone', 'ratio'])],
    row(`process start → ready, median of ${STARTS}`, (use) => median(use.readyMs), 'ms'),
    row('CPU until ready', (use) => use.readyCpuMs, 'ms'),
    row('resident', (use) => use.rssMb, 'MB'),
    row('peak', (use) => use.peakMb, 'MB'),
    row('heap used', (use) => use.heapUsedMb, 'MB'),
    row('heap reserved', (use) => use.heapReservedMb, 'MB'),
    row('idle, of a core', (use) => use.idlePercent, '%'),
    row(`${RENEWALS_PER_SECOND} renewals and ${REPORTS_PER_SECOND} reports a second, of a core`, (use) => use.loadPercent, '%'),
    row('CPU for one event', (use) => use.cpuMsPerEvent, 'ms'),
    row('resident after the events', (use) => use.laterRssMb, 'MB'),
    row('peak until then', (use) => use.laterPeakMb, 'MB'),
  ];
  const later =
    ours.later === undefined
      ? []
      : [
          `once each device was read for the first time: idle ${ours.later.idlePercent} %, with renewals and reports ${ours.later.loadPercent} % of a core`,
        ];
  const answered =
    ours.answeredMs?.length === undefined || ours.answeredMs.length === 0
      ? []
      : [`of the start, after the API server had answered for the first time: ${median(ours.answeredMs)} ms (median)`];
  const first = `after an installation, while reports of all nodes are made: ${ours.firstPercent ?? Number.NaN} % of a core`;
  const scrape = `/metrics: ${ours.scrapeMs} ms, ${ours.scrapeLines} lines`;
  return [`${nodes} Nodes, ${pods} Pods, ${nodes} Leases; ${server}`, tableOf(rows), ...answered, ...later, first, scrape].join('\n');
}
