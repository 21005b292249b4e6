import type { FleetStatus, NodeRow, StopRow } from '../fleet.ts';
import { urgency } from '../fleet.ts';
import { describeLeader } from '../leader.ts';
import type { DaemonRow } from '../node-daemon.ts';
import { table } from '../terminal/table.ts';
import type { Cell, Column } from '../terminal/table.ts';
import type { Ink } from '../terminal/ink.ts';
import { harmless } from '../terminal/text.ts';
import { age, moment } from '../terminal/times.ts';
import { remedyWord } from '../remedy-rows.ts';
import { alarmSection } from './alarms-page.ts';
import { nodeOwnershipSection } from './ownership-page.ts';
import { preservedSection } from './preserved-page.ts';
import { paragraph } from './sections.ts';
import type { Sheet } from './sections.ts';

export interface FleetOptions {
  server: string;
  wide: boolean;
  /** Every node, also thousands of quiet ones. */
  all: boolean;
  /** The namespace that was looked in. */
  namespace?: string | undefined;
}

/** Quiet nodes beyond this many are counted, not listed. */
const QUIET_LISTED = 50;
const QUIET = 5;
const PROBLEMS_SHOWN = 3;
const MARKED_SHOWN = 8;

/** A table of nodes and their fences under one line about who leads. */
export function fleetPage(status: FleetStatus, options: FleetOptions, sheet: Sheet): string {
  const { ink, nowMs } = sheet;
  const lines = [heading(status, options, sheet)];
  for (const problem of status.problems ?? []) lines.push(ink.bad(paragraph(sheet, harmless(`PROBLEM ${problem}`))));
  for (const stop of status.stops) lines.push(ink.warn(paragraph(sheet, `STOP ${describeStop(stop, nowMs)}`)));
  const quiet = status.nodes.filter((row) => urgency(row) === QUIET);
  const hidden = options.all || quiet.length <= QUIET_LISTED ? 0 : quiet.length;
  const shown = hidden === 0 ? status.nodes : status.nodes.filter((row) => urgency(row) !== QUIET);
  lines.push('');
  if (shown.length > 0) lines.push(...nodeTable(shown, options.wide, sheet));
  else if (hidden === 0) lines.push('There are no nodes.');
  if (hidden > 0) lines.push(ink.dim(`and ${hidden} nodes that are Ready and not fenced (--all shows them)`));
  lines.push(
    ...alarmSection(status.alarms, sheet),
    ...preservedSection(status.preservation, sheet),
    ...nodeOwnershipSection(status.nodeOwnership, sheet),
    ...notes(status, sheet),
  );
  return lines.join('\n');
}

function heading({ leader, mode }: FleetStatus, { server, namespace }: FleetOptions, sheet: Sheet): string {
  const message = describeLeader(leader, sheet.nowMs, namespace);
  const shown = leader.isAlive ? message : sheet.ink.bad(message);
  const modeText = mode === undefined ? '' : `; ${mode === 'enforce' ? 'mode enforce' : sheet.ink.warn('mode observe: nothing is changed')}`;
  return `${harmless(server)}: ${shown}${modeText}`;
}

export function describeStop({ name, node, reason, since, by }: StopRow, nowMs: number): string {
  const who = by === undefined ? '' : ` by ${by}`;
  return harmless(`${name}: ${node === undefined ? 'ALL nodes' : `node ${node}`} since ${moment(since, nowMs)}${who}: ${reason}`);
}

interface NodeColumn extends Column {
  mayGo?: true;
}

const NARROW: readonly NodeColumn[] = [
  { head: 'NODE', least: 12, givesWay: 2 },
  { head: 'READY', least: 7, givesWay: 0 },
  { head: 'FENCEABLE', least: 9, givesWay: 0, mayGo: true },
  { head: 'DAEMON', least: 6, givesWay: 0, mayGo: true },
  { head: 'REMEDY', least: 7, givesWay: 1, mayGo: true },
  { head: 'DUMP', least: 7, givesWay: 0, mayGo: true },
  { head: 'FENCE', least: 7, givesWay: 0 },
  { head: 'STEP', least: 9, givesWay: 4, mayGo: true },
  { head: 'HOLD', least: 7, givesWay: 3, mayGo: true },
  { head: 'OUTCOME', least: 7, givesWay: 0, mayGo: true },
  { head: 'SINCE', least: 5, givesWay: 0 },
  { head: 'DEVICE', least: 15, givesWay: 5, mayGo: true },
];

function columns(wide: boolean): readonly NodeColumn[] {
  return wide ? [...NARROW, { head: 'MESSAGE', least: 10, givesWay: 6 }] : NARROW;
}

/** Columns in which nothing stands leave their room to the others. */
function nodeTable(rows: readonly NodeRow[], wide: boolean, sheet: Sheet): string[] {
  const all = rows.map((row) => cells(row, wide, sheet));
  const kept = columns(wide)
    .map((column, index) => ({ column, index }))
    .filter(({ column, index }) => wide || !column.mayGo || all.some((row) => row[index]?.text !== '-'));
  return table(
    kept.map(({ column }) => column),
    all.map((row) => kept.map(({ index }) => row[index] ?? { text: '' })),
    sheet.ink.bold,
    sheet.width,
  );
}

const DAEMON_PAINT: Readonly<Record<DaemonRow['state'], (ink: Ink) => (text: string) => string>> = {
  'on-storage': (ink) => ink.warn,
  armed: ({ good }) => good,
  heard: ({ warn }) => warn,
  silent: ({ bad }) => bad,
  suspected: ({ bad }) => bad,
  failed: ({ bad }) => bad,
};

function cells(row: NodeRow, wide: boolean, { ink, nowMs }: Sheet): Cell[] {
  const { state, outcome } = row;
  const plain = (text: string | undefined): Cell => (text === undefined || text === '' ? { text: '-', paint: ink.dim } : { text });
  const shown: Cell[] = [
    { text: row.node },
    { text: readyText(row), paint: row.ready === 'True' ? (row.cordoned ? ink.warn : ink.good) : ink.bad },
    row.fenceable === undefined ? plain(undefined) : { text: FENCEABLE_WORDS[row.fenceable], paint: WANTED.has(row.fenceable) ? ink.warn : ink.bad },
    row.daemon === undefined ? plain(undefined) : { text: row.daemon.state, paint: DAEMON_PAINT[row.daemon.state](ink) },
    row.remedies === undefined ? plain(undefined) : { text: remedyWord(row.remedies) ?? '-', paint: isAsking(row) ? ink.bad : ink.warn },
    row.dump === undefined ? plain(undefined) : { text: row.dump.state, paint: row.dump.state === 'FINISHED' ? ink.dim : ink.warn },
    state === undefined ? plain(undefined) : { text: state, paint: statePaint(row, ink) },
    plain(wide ? row.step : row.step?.replace('-management', '')),
    row.hold === undefined ? plain(undefined) : { text: row.hold, paint: ink.warn },
    outcome === undefined ? plain(undefined) : { text: outcome, paint: outcome === 'failed' ? ink.bad : ink.good },
    plain(row.since === undefined ? undefined : age(row.since, nowMs)),
    plain(row.device),
  ];
  return wide ? [...shown, plain(row.message)] : shown;
}

const FENCEABLE_WORDS: Readonly<Record<NonNullable<NodeRow['fenceable']>, string>> = {
  'configuration-error': 'no: error',
  'no-proof': 'no: proof',
  'default-stands': 'default',
  never: 'no: never',
};
/** Of these somebody may have meant it so. */
const WANTED = new Set<NodeRow['fenceable']>(['default-stands', 'never']);

function isAsking({ remedies = [] }: NodeRow): boolean {
  return remedies.some(({ phase }) => phase === 'handed-over');
}

const READY: Readonly<Record<NodeRow['ready'], string>> = { True: 'Ready', False: 'NotReady', Unknown: 'Unknown', missing: 'no Ready', gone: 'gone' };

function readyText({ ready, cordoned }: NodeRow): string {
  return READY[ready] + (cordoned ? ',cordoned' : '');
}

function statePaint({ state, outcome }: NodeRow, ink: Ink): (text: string) => string {
  if (state === 'error' || outcome === 'failed') return ink.bad;
  return state === 'final' ? ink.good : ink.warn;
}

/** `MAINTENANCE nodefence: annotation nodefence/maintenance=disk swap on Node worker-1`: whether it holds a fence is for its policy to say. */
export function maintenanceLines({ maintenance = [] }: NodeRow, sheet: Sheet): string[] {
  return maintenance.map((mark) => sheet.ink.warn(paragraph(sheet, harmless(`MAINTENANCE ${mark}`))));
}

/** What a person must know beyond the table: fences that gave up, and nodes that could not be fenced as they should. */
function notes({ nodes }: FleetStatus, sheet: Sheet): string[] {
  const lines: string[] = [];
  for (const row of nodes.filter(({ outcome }) => outcome === 'failed').slice(0, PROBLEMS_SHOWN))
    lines.push(sheet.ink.bad(paragraph(sheet, harmless(`${row.node}: ${row.message ?? ''}`))));
  const observed = nodes.filter(({ hold, message }) => hold === 'observe' && message !== undefined);
  for (const { node, message = '' } of observed.slice(0, PROBLEMS_SHOWN))
    lines.push(sheet.ink.warn(paragraph(sheet, harmless(`${node}: ${message}`))));
  if (observed.length > PROBLEMS_SHOWN)
    lines.push(sheet.ink.warn(`and ${observed.length - PROBLEMS_SHOWN} more nodes that mode observe reports: nodefence explain NODE`));
  const marked = nodes.filter(({ maintenance = [] }) => maintenance.length > 0);
  for (const row of marked.slice(0, MARKED_SHOWN)) lines.push(...maintenanceLines(row, sheet));
  if (marked.length > MARKED_SHOWN)
    lines.push(sheet.ink.warn(`and ${marked.length - MARKED_SHOWN} more nodes under maintenance: -o json lists them`));
  const asking = nodes.filter(isAsking);
  for (const { node, remedies = [] } of asking.slice(0, PROBLEMS_SHOWN)) {
    const message = remedies.find(({ phase }) => phase === 'handed-over')?.message ?? '';
    lines.push(sheet.ink.bad(paragraph(sheet, harmless(`${node}: ${message} (nodefence resume ${node})`))));
  }
  if (asking.length > PROBLEMS_SHOWN) lines.push(sheet.ink.bad(`and ${asking.length - PROBLEMS_SHOWN} more nodes whose remedies ask for a person`));
  const broken = nodes.filter(({ problems }) => problems.length > 0);
  for (const { node, problems } of broken.slice(0, PROBLEMS_SHOWN))
    lines.push(sheet.ink.warn(paragraph(sheet, harmless(`${node} could not be fenced as it should: ${problems[0] ?? ''}`))));
  if (broken.length > PROBLEMS_SHOWN)
    lines.push(sheet.ink.warn(`and ${broken.length - PROBLEMS_SHOWN} more nodes with errors in their configuration`));
  return lines.length === 0 ? [] : ['', ...lines];
}
