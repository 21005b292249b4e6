import type { AlarmSetting } from './configuration.ts';
import { REMEDY_LIMITS } from './configuration.ts';

/** How often something went wrong, per node and per owner of a workload; "N times in a window" is an alarm. Pure; times are of the wall clock, because counts outlive processes. */

/** What is counted: the node that had it, or the owner of the pods that ran there then. */
export type ProblemSubject = `node ${string}` | `workload ${string}`;

export interface Problem {
  readonly subject: ProblemSubject;
  readonly reason: string;
  readonly atMs: number;
}

export interface Counted {
  readonly subject: ProblemSubject;
  readonly reason: string;
  /** The latest ones, oldest first. */
  readonly timesMs: readonly number[];
}

export interface RaisedAlarm {
  readonly subject: ProblemSubject;
  readonly reason: string;
  readonly count: number;
  readonly windowMs: number;
}

export interface ProblemCounters {
  readonly counted: readonly Counted[];
  /** Told already; each is told again only after it was cleared. */
  readonly raised: readonly RaisedAlarm[];
}

export const NO_PROBLEMS: ProblemCounters = { counted: [], raised: [] };
/** Subjects with a reason each, and times of all of them together, because they stand in one object; those whose last problem is the longest ago are forgotten first. */
export const COUNTED_MAX = 64;
export const TIMES_MAX = 1024;

/** The same one again, by whoever tells of it twice: two of one reason at one moment are one. */
export function isCounted({ counted }: ProblemCounters, problem: Problem): boolean {
  return counted.some(({ subject, reason, timesMs }) => subject === problem.subject && reason === problem.reason && timesMs.includes(problem.atMs));
}

/**
 * One that a clock which was set back left in the future: where some of this reason are known it is among them, at the time at which it was judged. Only of what
 * is told again, as clocks of several machines differ.
 */
export function isLeftInFuture({ counted }: ProblemCounters, problem: Problem, nowMs: number): boolean {
  return problem.atMs > nowMs && counted.some(({ subject, reason }) => subject === problem.subject && reason === problem.reason);
}

/** Reasons that no alarm names are not remembered. */
export function countProblem(counters: ProblemCounters, problem: Problem, alarms: readonly AlarmSetting[]): ProblemCounters {
  const named = alarms.filter(({ reason }) => reason === problem.reason);
  if (named.length === 0) return counters;
  const most = Math.min(REMEDY_LIMITS.alarmCount, Math.max(...named.map(({ count }) => count)));
  const isIt = ({ subject, reason }: Counted): boolean => subject === problem.subject && reason === problem.reason;
  const timesMs = [...(counters.counted.find(isIt)?.timesMs ?? []), problem.atMs].toSorted((one, other) => one - other).slice(-most);
  const others = counters.counted.filter((one) => !isIt(one));
  return { ...counters, counted: bounded([...others, { subject: problem.subject, reason: problem.reason, timesMs }]) };
}

/** As much as one report may keep, of what stands last. */
export function bounded(counted: readonly Counted[]): Counted[] {
  const kept = counted.slice(-COUNTED_MAX).map((one) => ({ ...one, timesMs: one.timesMs.slice(-REMEDY_LIMITS.alarmCount) }));
  let times = kept.reduce((sum, { timesMs }) => sum + timesMs.length, 0);
  while (times > TIMES_MAX) times -= kept.shift()?.timesMs.length ?? times;
  return kept;
}

export interface AlarmChanges {
  readonly counters: ProblemCounters;
  /** Each is told once. */
  readonly raised: readonly RaisedAlarm[];
  readonly cleared: readonly RaisedAlarm[];
  /** When the next one is cleared if nothing more is counted, by the wall clock. */
  readonly dueMs?: number;
}

export function judgeAlarms(counters: ProblemCounters, alarms: readonly AlarmSetting[], nowMs: number): AlarmChanges {
  const counted = counters.counted.flatMap((one) => withinWindows(one, alarms, nowMs));
  const standing = counted.flatMap(({ subject, reason, timesMs }) =>
    distinct(alarms.filter((alarm) => alarm.reason === reason)).flatMap(({ count, windowMs }) => {
      const within = timesMs.filter((atMs) => nowMs < atMs + windowMs);
      const decisive = within.at(-count);
      return decisive === undefined ? [] : [{ alarm: { subject, reason, count, windowMs }, untilMs: decisive + windowMs }];
    }),
  );
  const now = standing.map(({ alarm }) => alarm);
  return {
    counters: { counted, raised: now },
    raised: now.filter((alarm) => !counters.raised.some((one) => isSame(one, alarm))),
    cleared: counters.raised.filter((alarm) => !now.some((one) => isSame(one, alarm))),
    ...(standing.length > 0 && { dueMs: Math.min(...standing.map(({ untilMs }) => untilMs)) }),
  };
}

/** What is older than every window is forgotten. What a clock that was set back left in the future counts as now. */
function withinWindows(one: Counted, alarms: readonly AlarmSetting[], nowMs: number): Counted[] {
  const longestMs = Math.max(0, ...alarms.filter(({ reason }) => reason === one.reason).map(({ windowMs }) => windowMs));
  const timesMs = one.timesMs.map((atMs) => Math.min(atMs, nowMs)).filter((atMs) => nowMs < atMs + longestMs);
  return timesMs.length === 0 ? [] : [{ ...one, timesMs }];
}

/** Two Configurations may say the same. */
export function distinct(alarms: readonly AlarmSetting[]): AlarmSetting[] {
  return [...new Map(alarms.map((alarm) => [`${alarm.count} ${alarm.windowMs}`, alarm])).values()];
}

export function isSame(one: RaisedAlarm, other: RaisedAlarm): boolean {
  return one.subject === other.subject && one.reason === other.reason && one.count === other.count && one.windowMs === other.windowMs;
}
