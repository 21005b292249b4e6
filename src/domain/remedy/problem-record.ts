import type { CountedEvent } from './counted-events.ts';
import { COUNTED_EVENTS_MAX } from './counted-events.ts';
import { bounded } from './problem-counters.ts';
import type { Counted, ProblemCounters, ProblemSubject, RaisedAlarm } from './problem-counters.ts';

/** What the report of a node keeps of its problems (docs/remedies.md), so that the next leader goes on from there. Times are RFC 3339. */
export interface ProblemRecord {
  /** What was counted, the one with the latest problem last. */
  counted: CountedProblems[];
  /** How far Events about the node were counted. */
  events?: { uid: string; count: number; last: string }[];
  /** Alarms that were told and not cleared: of the node, and of workloads whose last problem was here. */
  alarms?: ToldAlarm[];
}

export interface CountedProblems {
  reason: string;
  /** `Deployment shop/web`: pods of it ran here then. Absent: the node itself. */
  workload?: string;
  /** The latest ones, oldest first. */
  times: string[];
}

export interface ToldAlarm {
  reason: string;
  /** Absent: the node itself. */
  workload?: string;
  count: number;
  windowMs: number;
}

/** All that is known of the problems of one node. The one with the latest problem stands last. */
export interface NodeProblems extends ProblemCounters {
  readonly events: readonly CountedEvent[];
}

export const NO_NODE_PROBLEMS: NodeProblems = { counted: [], raised: [], events: [] };

export function nodeSubject(node: string): ProblemSubject {
  return `node ${node}`;
}

export function workloadSubject(workload: string): ProblemSubject {
  return `workload ${workload}`;
}

/** Undefined: there is nothing to keep. */
export function problemRecord({ counted, raised, events }: NodeProblems): ProblemRecord | undefined {
  if (counted.length === 0 && raised.length === 0) return undefined;
  const alarms = raised.map(({ subject, reason, count, windowMs }) => ({ reason, ...workloadIn(subject), count, windowMs }));
  return {
    counted: counted.map(({ subject, reason, timesMs }) => ({ reason, ...workloadIn(subject), times: timesMs.map(written) })),
    ...(events.length > 0 && { events: events.map(({ uid, count, lastMs }) => ({ uid, count, last: written(lastMs) })) }),
    ...(alarms.length > 0 && { alarms }),
  };
}

/** What cannot be read is left out. */
export function nodeProblems(node: string, record: ProblemRecord | undefined): NodeProblems {
  if (record === undefined) return NO_NODE_PROBLEMS;
  const subjectOf = (workload: string | undefined): ProblemSubject => (workload === undefined ? nodeSubject(node) : workloadSubject(workload));
  const counted = record.counted.flatMap(({ reason, workload, times }): Counted[] => {
    const timesMs = times.map((time) => Date.parse(time)).filter((ms) => !Number.isNaN(ms));
    return timesMs.length === 0 ? [] : [{ subject: subjectOf(workload), reason, timesMs }];
  });
  const events = (record.events ?? [])
    .map(({ uid, count, last }) => ({ uid, count, lastMs: Date.parse(last) }))
    .filter(({ lastMs }) => !Number.isNaN(lastMs));
  const raised = (record.alarms ?? []).map(({ reason, workload, count, windowMs }): RaisedAlarm => {
    return { subject: subjectOf(workload), reason, count, windowMs };
  });
  return { counted, events, raised };
}

/** Both, each problem once: what a leader before this one wrote late, and what this one has counted since. */
export function mergeProblems(one: NodeProblems, other: NodeProblems): NodeProblems {
  const keyOf = ({ subject, reason }: Pick<Counted, 'subject' | 'reason'>): string => `${reason} ${subject}`;
  const mine = new Map(other.counted.map((each) => [keyOf(each), each]));
  const merged = one.counted.map((each) => {
    const same = mine.get(keyOf(each));
    return same === undefined ? each : { ...each, timesMs: unionOf(each.timesMs, same.timesMs) };
  });
  const theirs = new Set(one.counted.map(keyOf));
  const all = [...merged, ...other.counted.filter((each) => !theirs.has(keyOf(each)))];
  const events = Map.groupBy([...one.events, ...other.events], ({ uid }) => uid);
  return {
    counted: bounded(all.toSorted((left, right) => (left.timesMs.at(-1) ?? 0) - (right.timesMs.at(-1) ?? 0))),
    events: [...events.values()]
      .map((several) => several.reduce((most, each) => (each.count > most.count ? each : most)))
      .toSorted((left, right) => left.lastMs - right.lastMs)
      .slice(-COUNTED_EVENTS_MAX),
    raised: other.raised,
  };
}

/** Each time as often as the list that has it most often. */
function unionOf(one: readonly number[], other: readonly number[]): number[] {
  const left = [...other];
  const alone = one.filter((atMs) => {
    const index = left.indexOf(atMs);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
  return [...alone, ...other].toSorted((first, second) => first - second);
}

function workloadIn(subject: ProblemSubject): { workload?: string } {
  return subject.startsWith('workload ') ? { workload: subject.slice('workload '.length) } : {};
}

function written(ms: number): string {
  return new Date(ms).toISOString();
}
