import type { RaisedAlarm } from './problem-counters.ts';
import { nodeProblems } from './problem-record.ts';
import type { ProblemRecord } from './problem-record.ts';

/** A raised alarm as people read it; also the shape of `status -o json`. */
export interface AlarmRow {
  /** `node worker-1`, `Deployment shop/web`. */
  subject: string;
  reason: string;
  /** Within the window, as far as they are kept. */
  problems: number;
  /** Sorted. */
  nodes: string[];
  windowMs: number;
}

export interface NodeRecord {
  node: string;
  record: ProblemRecord | undefined;
}

/** Every alarm that stands in the reports, the worst first. */
export function alarmRows(records: Iterable<NodeRecord>, nowMs: number): AlarmRow[] {
  const known = [...records].map(({ node, record }) => ({ node, ...nodeProblems(node, record) }));
  const rows = known.flatMap(({ raised }) => raised).map((alarm) => rowOf(alarm, known, nowMs));
  return rows.sort((one, other) => other.nodes.length - one.nodes.length || other.problems - one.problems || (one.subject < other.subject ? -1 : 1));
}

function rowOf(
  { subject, reason, windowMs }: RaisedAlarm,
  known: readonly ({ node: string } & ReturnType<typeof nodeProblems>)[],
  nowMs: number,
): AlarmRow {
  const seen = known.flatMap(({ node, counted }) => {
    const times = counted.find((one) => one.subject === subject && one.reason === reason)?.timesMs ?? [];
    const problems = times.filter((atMs) => nowMs < atMs + windowMs).length;
    return problems === 0 ? [] : [{ node, problems }];
  });
  return {
    subject: subject.replace(/^workload /u, ''),
    reason,
    problems: seen.reduce((sum, { problems }) => sum + problems, 0),
    nodes: seen.map(({ node }) => node).sort(),
    windowMs,
  };
}

/** `4 KernelOops on 3 nodes in 24h`. */
export function alarmWords({ reason, problems, nodes, windowMs }: Omit<AlarmRow, 'subject' | 'nodes'> & { nodes: readonly string[] }): string {
  return `${problems} ${reason}${nodes.length > 1 ? ` on ${nodes.length} nodes` : ''} in ${windowText(windowMs)}`;
}

const UNITS = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** As an admin writes it: `24h`, `1h30m`. */
export function windowText(ms: number): string {
  let rest = ms;
  const parts = UNITS.map(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? '' : `${count}${unit}`;
  });
  return parts.join('') || `${ms}ms`;
}
