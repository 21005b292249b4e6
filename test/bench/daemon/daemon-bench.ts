import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isKept } from '../../../src/drill/daemons/played.ts';
import type { DaemonStatus } from '../../../src/drill/daemons/played.ts';
import { askStatus } from '../../../src/node/shell/status-socket.ts';
import { rounded } from '../figures.ts';
import { median } from '../median.ts';
import { outputOf } from '../programs.ts';
import { Reader } from '../real/reader.ts';
import { BenchMachine, shippedFlags, whyNoWatchdog } from './machine.ts';
import { DaemonPlane, PROGRAM } from './plane.ts';

export interface DaemonFigures {
  daemons: number;
  seconds: number;
  /** Flags of Node, as the unit and the DaemonSet have them. */
  flags: string;
  /** Why none is fed; absent: each feeds one, and takes its machine down when it is cut off. */
  noWatchdog?: string;
  /** Process start until it is kept up, its watchdog armed and all peers attested. */
  keptMs: number;
  startCpuMs: number;
  /** Medians of all daemons; of the memory the largest too. */
  rssMb: number;
  rssMaxMb: number;
  peakMb: number;
  /** Of a core, with the programs that checks started. */
  idlePercent: number;
  idleMaxPercent: number;
  /** Of it these programs. */
  childrenPercent: number;
}

const DAEMONS = 5;
const KEPT_MS = 120_000;
/** Checks begin one after another when a daemon starts. */
const SETTLE_MS = 30_000;
const MEASURED_MS = 60_000;
const SAMPLE_MS = 1_000;

type Status = DaemonStatus & { grantedSecondsAgo?: number };

interface Daemon {
  machine: BenchMachine;
  reader: Reader;
  keptMs: number;
  startCpuMs: number;
}

/** Five compiled node daemons, started as they ship, do their usual duties: grants, peers, a watchdog, attestation, checks. */
export async function measureDaemon(say: (line: string) => void): Promise<DaemonFigures> {
  await outputOf(['scripts/run.mjs', 'build']);
  const noWatchdog = whyNoWatchdog();
  const plane = new DaemonPlane();
  const machines: BenchMachine[] = [];
  const readers: Reader[] = [];
  try {
    for (let number = 1; number <= DAEMONS; number += 1)
      machines.push(new BenchMachine(`worker-${number}`, join(plane.folder, `worker-${number}`), noWatchdog === undefined));
    await plane.start(machines);
    for (const machine of machines) readers.push(started(machine, plane.daemonKubeconfig()));
    say('daemon: until every daemon is kept up, and its peers are attested');
    const daemons: Daemon[] = [];
    for (const [index, reader] of readers.entries()) daemons.push(await kept(machines[index]!, reader, noWatchdog === undefined));
    say('daemon: a minute of its usual duties');
    await pause(SETTLE_MS);
    return { daemons: DAEMONS, flags: shippedFlags().join(' '), ...(noWatchdog === undefined ? {} : { noWatchdog }), ...(await used(daemons)) };
  } finally {
    await Promise.all(readers.map((reader) => reader.end()));
    for (const machine of machines) machine.close();
    await plane.stop();
  }
}

function started(machine: BenchMachine, kubeconfig: string): Reader {
  const { folder, name } = machine;
  const own = ['--node-name', name, '--kubeconfig', kubeconfig, '--listen', '127.0.0.1:0'];
  const folders = ['--state-dir', join(folder, 'state'), '--run-dir', join(folder, 'run')];
  const [program = '', ...rest] = machine.command([process.execPath, ...shippedFlags(), PROGRAM, 'node', ...own, ...folders]);
  return new Reader(rest, {}, join(folder, 'daemon.log'), program);
}

async function kept(machine: BenchMachine, reader: Reader, hasWatchdog: boolean): Promise<Daemon> {
  const isReady = async (): Promise<boolean> => {
    await pause(SAMPLE_MS / 10);
    const status = (await askStatus(join(machine.folder, 'run/node.sock')).catch(() => undefined)) as Status | undefined;
    return hasWatchdog ? isKept(status, DAEMONS) && machine.isWatchdogActive : status?.grantedSecondsAgo !== undefined;
  };
  const keptMs = await reader.untilReady(isReady, KEPT_MS);
  return { machine, reader, keptMs, startCpuMs: reader.cpuMs() };
}

type Used = Omit<DaemonFigures, 'daemons' | 'flags' | 'noWatchdog'>;

async function used(daemons: readonly Daemon[]): Promise<Used> {
  const rows = await Promise.all(daemons.map(({ reader }) => usedBy(reader)));
  const [rss, idle] = [rows.map(({ rssMb }) => rssMb), rows.map(({ percent }) => percent)];
  return {
    seconds: MEASURED_MS / 1_000,
    keptMs: median(daemons.map(({ keptMs }) => keptMs)),
    startCpuMs: median(daemons.map(({ startCpuMs }) => startCpuMs)),
    rssMb: median(rss),
    rssMaxMb: Math.max(...rss),
    peakMb: Math.max(...daemons.map(({ reader }) => reader.memory().peakMb)),
    idlePercent: median(idle),
    idleMaxPercent: Math.max(...idle),
    childrenPercent: median(rows.map(({ childrenPercent }) => childrenPercent)),
  };
}

/** The most that was resident within the time, and CPU time over wall time. */
async function usedBy(reader: Reader): Promise<{ rssMb: number; percent: number; childrenPercent: number }> {
  const [own, children, beganMs] = [reader.cpuMs(), reader.childrenCpuMs(), performance.now()];
  let rssMb = 0;
  while (performance.now() - beganMs < MEASURED_MS) {
    await pause(SAMPLE_MS);
    rssMb = Math.max(rssMb, reader.memory().rssMb);
  }
  const wallMs = performance.now() - beganMs;
  const childrenMs = reader.childrenCpuMs() - children;
  const percent = ((reader.cpuMs() - own + childrenMs) / wallMs) * 100;
  return { rssMb, percent: rounded(percent), childrenPercent: rounded((childrenMs / wallMs) * 100) };
}

export function daemonWords(figures: DaemonFigures): string {
  const { daemons, seconds, flags, noWatchdog, keptMs, startCpuMs, rssMb, rssMaxMb, peakMb, idlePercent, idleMaxPercent, childrenPercent } = figures;
  const watchdog = noWatchdog === undefined ? 'each with --self-fence and a watchdog that is played' : `without a watchdog (${noWatchdog})`;
  return [
    `${daemons} node daemons for ${seconds} s, compiled, started with ${flags}, ${watchdog}; grants of a controller, ${daemons - 1} peers each`,
    `kept up, armed and peers attested ${keptMs} ms after the start, with ${startCpuMs} ms of CPU (medians)`,
    `resident: ${rssMb} MB (median of the daemons), ${rssMaxMb} MB (the largest); peak since the start ${peakMb} MB`,
    `idle: ${idlePercent} % of a core (median), ${idleMaxPercent} % (the most); of it ${childrenPercent} % programs that checks started`,
  ].join('\n');
}
