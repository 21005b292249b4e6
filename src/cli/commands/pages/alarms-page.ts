import { alarmWords } from '../../../domain/remedy/alarm-words.ts';
import type { AlarmRow } from '../../../domain/remedy/alarm-words.ts';
import { nodeProblems } from '../../../domain/remedy/problem-record.ts';
import type { NodeFenceReport } from '../../../ports/resources.ts';
import { harmless } from '../terminal/text.ts';
import { moment } from '../terminal/times.ts';
import { paragraph } from './sections.ts';
import type { Sheet } from './sections.ts';

const SHOWN = 10;
const NODES_NAMED = 3;

/** `ALARM Deployment shop/web: 4 KernelOops on 3 nodes in 24h (a, b, c)`, the worst first. */
export function alarmSection(alarms: readonly AlarmRow[] = [], sheet: Sheet): string[] {
  if (alarms.length === 0) return [];
  const lines = alarms
    .slice(0, SHOWN)
    .map((row) => sheet.ink.warn(paragraph(sheet, harmless(`ALARM ${row.subject}: ${alarmWords(row)}${named(row)}`))));
  const more = alarms.length > SHOWN ? [sheet.ink.warn(`and ${alarms.length - SHOWN} more alarms: nodefence status -o json`)] : [];
  return ['', ...lines, ...more];
}

function named({ nodes }: AlarmRow): string {
  return nodes.length < 2 ? '' : ` (${nodes.slice(0, NODES_NAMED).join(', ')}${nodes.length > NODES_NAMED ? ', ...' : ''})`;
}

/** `2 KernelOops, the last 02:13:27Z; ALARM`: what was counted of this node; undefined: nothing. */
export function problemsOf(report: NodeFenceReport, nowMs: number): { words: string; isAlarm: boolean } | undefined {
  const { counted, raised } = nodeProblems(report.metadata.name, report.status?.problemCounts);
  const own = counted.filter(({ subject }) => subject.startsWith('node '));
  if (own.length === 0) return undefined;
  const words = own.map(({ reason, timesMs, subject }) => {
    const isRaised = raised.some((alarm) => alarm.reason === reason && alarm.subject === subject);
    const last = new Date(timesMs.at(-1) ?? 0).toISOString();
    return `${timesMs.length} ${reason}, the last ${moment(last, nowMs)}${isRaised ? ': an alarm is raised' : ''}`;
  });
  return { words: words.join('; '), isAlarm: raised.some(({ subject }) => subject.startsWith('node ')) };
}
