import type { IncidentRecord } from '../../../domain/incident-record.ts';
import type { Ink } from '../terminal/ink.ts';
import { table } from '../terminal/table.ts';
import type { Cell, Column } from '../terminal/table.ts';
import { harmless } from '../terminal/text.ts';
import { between, clockTime, duration } from '../terminal/times.ts';
import { entry, heading } from './sections.ts';
import type { Sheet } from './sections.ts';

/** A fence of the past, and of which node. */
export interface PastFence extends IncidentRecord {
  node: string;
}

export interface HistoryOptions {
  node: string | undefined;
  /** With the timeline and the words of each. */
  wide: boolean;
}

const COLUMNS: readonly Column[] = [
  { head: 'NODE', least: 12, givesWay: 2 },
  { head: 'INCIDENT', least: 8, givesWay: 0 },
  { head: 'BEGAN', least: 9, givesWay: 0 },
  { head: 'TOOK', least: 5, givesWay: 0 },
  { head: 'OUTCOME', least: 9, givesWay: 0 },
  { head: 'EVIDENCE', least: 9, givesWay: 1 },
  { head: 'HELD BY', least: 8, givesWay: 3 },
];

/** One line for each past fence, the newest first; `wide` adds how it went. */
export function historyPage(fences: readonly PastFence[], { node, wide }: HistoryOptions, sheet: Sheet): string {
  if (fences.length === 0) return `No fence of ${node === undefined ? 'any node' : `node ${node}`} is on record.`;
  const lines = table(
    COLUMNS,
    fences.map((fence) => cells(fence, sheet)),
    sheet.ink.bold,
    sheet.width,
  );
  if (wide) for (const fence of fences) lines.push(...details(fence, sheet));
  return lines.join('\n');
}

function cells(fence: PastFence, { ink, nowMs }: Sheet): Cell[] {
  const took = between(fence.startedAt, fence.endedAt);
  return [
    { text: fence.node },
    { text: String(fence.incident) },
    { text: clockTime(fence.startedAt, nowMs) },
    { text: took === undefined ? 'not over' : duration(took) },
    outcomeCell(fence, ink),
    { text: fence.evidence.length === 0 ? 'none' : fence.evidence.join(' ') },
    { text: fence.heldBy?.split(':')[0] ?? '-' },
  ];
}

function outcomeCell({ outcome }: PastFence, ink: Ink): Cell {
  const text = outcome ?? 'open';
  if (outcome === 'recovered' || outcome === 'untouched' || outcome === 'replaced') return { text, paint: ink.good };
  return { text, paint: outcome === undefined ? ink.warn : ink.bad };
}

const PHASES = [
  ['isolatedAt', 'isolated'],
  ['poweredOffAt', 'proven off'],
  ['releasedAt', 'released'],
  ['poweredOnAt', 'on'],
  ['readyAt', 'Ready'],
  ['finalAt', 'over'],
] as const;

const NAME_WIDTH = 8;

function details(fence: PastFence, sheet: Sheet): string[] {
  const steps = PHASES.flatMap(([phase, word]) => {
    const ms = between(fence.startedAt, fence.timeline[phase]);
    return ms === undefined || ms < 0 ? [] : [`${word} +${duration(ms)}`];
  });
  const lines = [heading(sheet, harmless(`${fence.node}, incident ${fence.incident}, asked by ${fence.trigger}`))];
  if (steps.length > 0) lines.push(entry(sheet, 'went', steps.join(', '), NAME_WIDTH));
  if (fence.heldBy !== undefined) lines.push(entry(sheet, 'held by', harmless(fence.heldBy), NAME_WIDTH, sheet.ink.warn));
  if (fence.summary !== '') lines.push(entry(sheet, 'at last', harmless(fence.summary), NAME_WIDTH));
  return lines;
}
