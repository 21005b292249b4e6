import { describe, expect, it } from 'vitest';
import type { AlarmSetting } from './configuration.ts';
import { workloadAlarms } from './workload-alarms.ts';
import type { SeenOnNode } from './workload-alarms.ts';

const OOPS: AlarmSetting = { reason: 'KernelOops', count: 3, windowMs: 100, where: 'here' };
const WEB = { subject: 'workload Deployment shop/web', reason: 'KernelOops' } as const;

function on(node: string, timesMs: number[], alarms: AlarmSetting[] = [OOPS]): SeenOnNode {
  return { node, timesMs, alarms };
}

describe('the alarm of a workload', () => {
  it.each<[string, SeenOnNode[], number, number]>([
    ['counts its problems on all nodes', [on('a', [1]), on('b', [2]), on('c', [3])], 4, 1],
    ['is not raised by one fewer', [on('a', [1]), on('b', [2])], 4, 0],
    ['is not raised on one node: that is the alarm of the node', [on('a', [1, 2, 3, 4])], 5, 0],
    ['is not raised by a second node whose problem is too long ago', [on('a', [150, 151, 152]), on('b', [1])], 153, 0],
    ['counts nodes alone whose Configurations ask for it', [on('a', [1, 2]), on('b', [3], [])], 4, 0],
    ['is one where two Configurations ask for the same', [on('a', [1, 2]), on('b', [3], [{ ...OOPS, where: 'there' }])], 4, 1],
    ['of another reason is another', [on('a', [1, 2], [{ ...OOPS, reason: 'OOMKilling' }]), on('b', [3])], 4, 0],
  ])('%s', (_what, seen, nowMs, raised) => {
    expect(workloadAlarms(seen, WEB, nowMs)).toHaveLength(raised);
  });

  it('says on how many nodes, and when it ends', () => {
    expect(workloadAlarms([on('b', [10, 30]), on('a', [20, 40])], WEB, 50)).toEqual([
      { alarm: { ...WEB, count: 3, windowMs: 100 }, problems: 4, nodes: ['a', 'b'], untilMs: 120 },
    ]);
    expect(workloadAlarms([on('b', [10]), on('a', [20, 40, 60])], WEB, 70)[0]?.untilMs, 'the second node is the first to be over').toBe(110);
  });
});
