import type { AlarmSetting } from './configuration.ts';
import { distinct } from './problem-counters.ts';
import type { RaisedAlarm } from './problem-counters.ts';

/** One pod that breaks the hardware on which it runs, again and again: the problems of several nodes, by whose pods were there. Pure. */

/** What one node counted of one reason while pods of the workload ran on it. */
export interface SeenOnNode {
  readonly node: string;
  readonly timesMs: readonly number[];
  /** Those of the node's own Configurations. */
  readonly alarms: readonly AlarmSetting[];
}

export interface StandingAlarm {
  readonly alarm: RaisedAlarm;
  readonly problems: number;
  /** Sorted. */
  readonly nodes: readonly string[];
  /** When it is cleared if nothing more is counted. */
  readonly untilMs: number;
}

/** What happened on one node alone is told by that node's own alarm: every workload there has the same count, and most of them are innocent. */
const NODES_MIN = 2;

export function workloadAlarms(
  seen: readonly SeenOnNode[],
  { subject, reason }: Pick<RaisedAlarm, 'subject' | 'reason'>,
  nowMs: number,
): StandingAlarm[] {
  const wanted = distinct(seen.flatMap(({ alarms }) => alarms).filter((alarm) => alarm.reason === reason));
  return wanted.flatMap(({ count, windowMs }) => {
    const within = seen
      .filter(({ alarms }) => alarms.some((alarm) => alarm.reason === reason && alarm.count === count && alarm.windowMs === windowMs))
      .map(({ node, timesMs }) => ({ node, timesMs: timesMs.filter((atMs) => nowMs < atMs + windowMs) }))
      .filter(({ timesMs }) => timesMs.length > 0);
    const decisive = within
      .flatMap(({ timesMs }) => timesMs)
      .toSorted((one, other) => one - other)
      .at(-count);
    const lastOfNodes = within.map(({ timesMs }) => Math.max(...timesMs)).toSorted((one, other) => one - other);
    const secondNode = lastOfNodes.at(-NODES_MIN);
    if (decisive === undefined || secondNode === undefined) return [];
    return [
      {
        alarm: { subject, reason, count, windowMs },
        problems: within.reduce((sum, { timesMs }) => sum + timesMs.length, 0),
        nodes: within.map(({ node }) => node).sort(),
        untilMs: Math.min(decisive, secondNode) + windowMs,
      },
    ];
  });
}
