import type { AlarmSetting } from './configuration.ts';
import { isSame, judgeAlarms } from './problem-counters.ts';
import type { Counted, ProblemSubject, RaisedAlarm } from './problem-counters.ts';
import { nodeSubject } from './problem-record.ts';
import type { NodeProblems } from './problem-record.ts';
import { workloadAlarms } from './workload-alarms.ts';
import type { SeenOnNode } from './workload-alarms.ts';

/** Everything from which the alarms of one node, and of the workloads that ran there, are decided. Pure. */
export interface ProblemPicture {
  readonly node: string;
  readonly problems: NodeProblems;
  /** Of the node. */
  readonly alarms: readonly AlarmSetting[];
  /** What every node counted of a workload. */
  readonly seen: (subject: ProblemSubject, reason: string) => readonly SeenOnNode[];
  /** The node whose report says that this alarm was told; undefined: it was not. */
  readonly holderOf: (alarm: RaisedAlarm) => string | undefined;
  readonly nowMs: number;
}

export interface AlarmNews {
  readonly kind: 'raised' | 'cleared';
  readonly alarm: RaisedAlarm;
  readonly problems: number;
  readonly nodes: readonly string[];
}

export interface NodeJudgement {
  readonly problems: NodeProblems;
  readonly news: readonly AlarmNews[];
  /** When something is over if nothing more is counted, by the wall clock. */
  readonly dueMs: number;
  /** Nodes that are to be judged now: each has an alarm to tell that this one made stand. */
  readonly elsewhere: readonly string[];
}

/** What no alarm names any more is kept so long: a Configuration with an error is none, and the next edit mends it. */
export const UNNAMED_KEPT_MS = 86_400_000;

/** In one report; more of one node are not told. */
export const ALARMS_MAX = 256;

export function judgeNode(picture: ProblemPicture): NodeJudgement {
  const { node, problems, alarms, nowMs } = picture;
  const counted = problems.counted.flatMap((one) => recent(one, alarms, nowMs));
  const own = nodeSubject(node);
  const ofNode = <T extends { subject: ProblemSubject }>(all: readonly T[]): T[] => all.filter(({ subject }) => subject === own);
  const judged = judgeAlarms({ counted: ofNode(counted), raised: ofNode(problems.raised) }, alarms, nowMs);
  const news = [
    ...judged.raised.map((alarm) => ({ kind: 'raised' as const, alarm, problems: problemsWithin(counted, alarm, nowMs), nodes: [node] })),
    ...judged.cleared.map((alarm) => ({ kind: 'cleared' as const, alarm, problems: problemsWithin(counted, alarm, nowMs), nodes: [node] })),
  ];
  const shared = judgeWorkloads(picture, counted);
  const endsMs = counted.map(({ timesMs, reason }) => (timesMs.at(-1) ?? nowMs) + keptMs(reason, alarms));
  return {
    problems: {
      counted,
      raised: [...judged.counters.raised, ...shared.raised],
      events: problems.events.filter(({ lastMs }) => nowMs < lastMs + Math.max(UNNAMED_KEPT_MS, ...alarms.map(({ windowMs }) => windowMs))),
    },
    news: [...news, ...shared.news],
    dueMs: Math.min(judged.dueMs ?? Infinity, shared.dueMs, ...endsMs),
    elsewhere: [...shared.elsewhere],
  };
}

interface SharedJudgement {
  raised: RaisedAlarm[];
  news: AlarmNews[];
  dueMs: number;
  elsewhere: ReadonlySet<string>;
}

/** The alarm of a workload stands in one report: that of the node that had the latest problem when it was raised. */
function judgeWorkloads(picture: ProblemPicture, counted: readonly Counted[]): SharedJudgement {
  const { node, problems, holderOf, nowMs } = picture;
  const own = nodeSubject(node);
  const told = problems.raised.filter(({ subject }) => subject !== own);
  const pairs = new Map([...counted, ...told].filter(({ subject }) => subject !== own).map((one) => [`${one.reason} ${one.subject}`, one]));
  const raised: RaisedAlarm[] = [];
  const news: AlarmNews[] = [];
  const elsewhere = new Set<string>();
  let dueMs = Infinity;
  for (const pair of pairs.values()) {
    const seen = picture.seen(pair.subject, pair.reason);
    const standing = workloadAlarms(seen, pair, nowMs);
    for (const { alarm, nodes, problems: count, untilMs } of standing) {
      if (raised.length >= ALARMS_MAX) break;
      const holder = holderOf(alarm);
      const teller = holder ?? homeOf(seen.filter((one) => nodes.includes(one.node)));
      // What was counted here may have happened before what was counted there: nobody else wakes that node.
      if (holder === undefined && teller !== undefined && teller !== node) elsewhere.add(teller);
      if (teller !== node) continue;
      raised.push(alarm);
      dueMs = Math.min(dueMs, untilMs);
      if (holder === undefined) news.push({ kind: 'raised', alarm, problems: count, nodes });
    }
    for (const alarm of told.filter((one) => one.subject === pair.subject && one.reason === pair.reason)) {
      if (!standing.some((one) => isSame(one.alarm, alarm))) news.push({ kind: 'cleared', alarm, problems: 0, nodes: [] });
    }
  }
  return { raised, news, dueMs, elsewhere };
}

function homeOf(seen: readonly SeenOnNode[]): string | undefined {
  const last = seen.map(({ node, timesMs }) => ({ node, atMs: Math.max(...timesMs) }));
  return last.sort((one, other) => other.atMs - one.atMs || (one.node < other.node ? -1 : 1))[0]?.node;
}

function recent(one: Counted, alarms: readonly AlarmSetting[], nowMs: number): Counted[] {
  const timesMs = one.timesMs.map((atMs) => Math.min(atMs, nowMs)).filter((atMs) => nowMs < atMs + keptMs(one.reason, alarms));
  return timesMs.length === 0 ? [] : [{ ...one, timesMs }];
}

function keptMs(reason: string, alarms: readonly AlarmSetting[]): number {
  const windows = alarms.filter((alarm) => alarm.reason === reason).map(({ windowMs }) => windowMs);
  return windows.length === 0 ? UNNAMED_KEPT_MS : Math.max(...windows);
}

function problemsWithin(counted: readonly Counted[], { subject, reason, windowMs }: RaisedAlarm, nowMs: number): number {
  const times = counted.find((one) => one.subject === subject && one.reason === reason)?.timesMs ?? [];
  return times.filter((atMs) => nowMs < atMs + windowMs).length;
}
