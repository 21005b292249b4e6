import type { NodeRecord } from './alarm-words.ts';
import type { Counted, RaisedAlarm } from './problem-counters.ts';
import { isSame } from './problem-counters.ts';
import { nodeProblems } from './problem-record.ts';

/** What was counted of one node, or of one workload over all nodes, by one reason; also the shape of `problems -o json`. */
export interface ProblemRow {
  /** `node worker-1`, `Deployment shop/web`. */
  subject: string;
  reason: string;
  /** As many as are kept. */
  problems: number;
  /** Where they were, sorted. */
  nodes: string[];
  /** RFC 3339. */
  firstAt: string;
  lastAt: string;
  /** Alarms that are raised because of them. */
  alarms: { count: number; windowMs: number }[];
}

/** All that the reports keep, the worst first. `node`: only what happened there, with what its workloads did elsewhere. */
export function problemRows(records: Iterable<NodeRecord>, node?: string): ProblemRow[] {
  const bySubject = new Map<string, { counted: { node: string; of: Counted }[]; raised: RaisedAlarm[] }>();
  const placeOf = ({ subject, reason }: Pick<Counted, 'subject' | 'reason'>) => {
    const key = `${reason} ${subject}`;
    const known = bySubject.get(key) ?? { counted: [], raised: [] };
    bySubject.set(key, known);
    return known;
  };
  for (const { node: name, record } of records) {
    const { counted, raised } = nodeProblems(name, record);
    for (const of of counted) placeOf(of).counted.push({ node: name, of });
    for (const alarm of raised) {
      const place = placeOf(alarm);
      if (!place.raised.some((known) => isSame(known, alarm))) place.raised.push(alarm);
    }
  }
  const rows = [...bySubject.values()].flatMap(({ counted, raised }) => rowOf(counted, raised));
  return rows.filter(({ nodes }) => node === undefined || nodes.includes(node)).sort(worstFirst);
}

function rowOf(counted: readonly { node: string; of: Counted }[], raised: readonly RaisedAlarm[]): ProblemRow[] {
  const [first] = counted;
  if (first === undefined) return [];
  const timesMs = counted.flatMap(({ of }) => of.timesMs);
  return [
    {
      subject: first.of.subject.replace(/^workload /u, ''),
      reason: first.of.reason,
      problems: timesMs.length,
      nodes: counted.map(({ node }) => node).sort(),
      firstAt: written(Math.min(...timesMs)),
      lastAt: written(Math.max(...timesMs)),
      alarms: raised.map(({ count, windowMs }) => ({ count, windowMs })),
    },
  ];
}

function worstFirst(one: ProblemRow, other: ProblemRow): number {
  return (
    Math.sign(other.alarms.length) - Math.sign(one.alarms.length) ||
    other.nodes.length - one.nodes.length ||
    other.problems - one.problems ||
    other.lastAt.localeCompare(one.lastAt) ||
    one.subject.localeCompare(other.subject)
  );
}

function written(ms: number): string {
  return new Date(ms).toISOString();
}
