import { fleetStatus } from './fleet.ts';
import type { FleetStatus, NodeRow } from './fleet.ts';
import { EXIT } from './failure.ts';
import type { ExitCode } from './failure.ts';
import { isWithoutLeader, leaderName } from './leader.ts';
import { describeStop } from './pages/fleet-page.ts';
import { describePreserved } from './pages/preserved-page.ts';
import type { Sheet } from './pages/sections.ts';
import type { Session } from './person-command.ts';
import { Screen } from './terminal/screen.ts';
import { harmless } from './terminal/text.ts';
import { clockTime } from './terminal/times.ts';
import { WatchedFleet } from './watched-cluster.ts';
import type { FleetListers, Watched } from './watched-cluster.ts';

/** Ages are shown in seconds. */
const REDRAW_MS = 1_000;
/** Changes of one moment are drawn together. */
const GATHER_MS = 50;

export type PageOf = (listers: FleetListers, sheet: Sheet) => string;

/** Shows a page until Ctrl-C: redrawn in place on a terminal, elsewhere one line for each change of a node, a stop or the leader. */
export async function watchStatus(session: Session, pageOf: PageOf, watched: Watched): Promise<ExitCode> {
  const { node } = watched;
  const fleet = new WatchedFleet(session.access, watched);
  const ended = untilSignal();
  try {
    await Promise.race([fleet.start(), ended]);
    if (session.console.isTerminal) await redraw(session, fleet, pageOf, ended);
    else await print(session, fleet, node, ended);
  } finally {
    fleet.close();
  }
  return EXIT.done;
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve());
  });
}

async function redraw({ access, console }: Session, fleet: WatchedFleet, pageOf: PageOf, ended: Promise<void>): Promise<void> {
  const screen = new Screen(console);
  const draw = (): void => {
    const sheet = { ink: console.ink, width: console.width, nowMs: access.clock.wallMs() };
    const trouble = fleet.trouble === undefined ? '' : `\n${console.ink.bad(`what is shown may be out of date: ${harmless(fleet.trouble)}`)}`;
    screen.show(`${pageOf(fleet.listers, sheet)}${trouble}\n\n${console.ink.dim(`${clockTime(sheet.nowMs, sheet.nowMs)}  Ctrl-C ends`)}`);
  };
  let gathering: NodeJS.Timeout | undefined;
  const soon = (): void => {
    gathering ??= setTimeout(() => {
      gathering = undefined;
      draw();
    }, GATHER_MS);
  };
  fleet.onChange(soon);
  process.stdout.on('resize', soon);
  const ticking = setInterval(draw, REDRAW_MS);
  draw();
  await ended;
  clearInterval(ticking);
  clearTimeout(gathering);
  process.stdout.off('resize', soon);
  screen.leave();
}

async function print({ access, console }: Session, fleet: WatchedFleet, node: string | undefined, ended: Promise<void>): Promise<void> {
  let told = new Map<string, string>();
  const look = (): void => {
    const nowMs = access.clock.wallMs();
    const lines = linesOf(fleetStatus(fleet.listers, nowMs), node, nowMs);
    for (const [key, line] of lines) if (told.get(key) !== line) console.print(`${clockTime(nowMs, nowMs)} ${line}`);
    for (const key of told.keys()) if (!lines.has(key)) console.print(`${clockTime(nowMs, nowMs)} ${key} is gone`);
    told = lines;
  };
  fleet.onChange(look);
  // A leader that dies changes nothing by itself.
  const ticking = setInterval(look, REDRAW_MS);
  look();
  await ended;
  clearInterval(ticking);
}

/** A line for each thing that may change, without ages. */
function linesOf(
  { nodes, stops, leader, problems = [], preservation, nodeOwnership }: FleetStatus,
  only: string | undefined,
  nowMs: number,
): Map<string, string> {
  const lines = new Map<string, string>();
  const nobody = isWithoutLeader(leader) ? 'no controller leads' : 'who leads is not known';
  lines.set('the leader', leader.isAlive ? `leader ${leaderName(leader)}` : nobody);
  for (const problem of problems) lines.set(`problem ${problem}`, harmless(`problem: ${problem}`));
  for (const stop of stops) {
    if (only === undefined || stop.node === undefined || stop.node === only)
      lines.set(`stop ${stop.name}`, `stop ${describeStop(stop, nowMs).replace(/ \([^)]* ago\)/u, '')}`);
  }
  for (const row of nodes) if (only === undefined || row.node === only) lines.set(`node ${row.node}`, rowLine(row));
  for (const row of nodeOwnership?.rows ?? []) {
    if (only === undefined || row.node === only)
      lines.set(`remediation ${row.who}`, harmless(`${row.who}${row.node === undefined ? '' : `, node ${row.node}`}: ${row.state}`));
  }
  for (const row of preservation?.machines ?? []) {
    const name = `${row.kind.toLowerCase()} ${row.namespace === undefined ? '' : `${row.namespace}/`}${row.name}`;
    if (only === undefined || row.node === only) lines.set(`preservation of ${name}`, harmless(`${name}: ${describePreserved(row)}`));
  }
  return lines;
}

function rowLine({ node, ready, cordoned, state, step, hold, outcome, message }: NodeRow): string {
  const marks = [`Ready=${ready}`, ...(cordoned ? ['cordoned'] : [])];
  if (state !== undefined) marks.push(`fence=${state}`, `step=${step ?? ''}`);
  if (hold !== undefined) marks.push(`hold=${hold}`);
  if (outcome !== undefined) marks.push(`outcome=${outcome}`);
  return harmless(`node ${node}: ${marks.join(' ')}${message === undefined ? '' : `: ${message}`}`);
}
