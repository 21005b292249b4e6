import { describe, expect, it } from 'vitest';
import type { AlarmSetting } from './configuration.ts';
import { countProblem, COUNTED_MAX, judgeAlarms, NO_PROBLEMS } from './problem-counters.ts';
import type { ProblemCounters, ProblemSubject } from './problem-counters.ts';

const OOPS: AlarmSetting = { reason: 'KernelOops', count: 3, windowMs: 100, where: 'here' };
const NODE: ProblemSubject = 'node worker-1';
const OWNER: ProblemSubject = 'workload StatefulSet default/db';

function counted(times: readonly number[], subject: ProblemSubject = NODE, alarms: readonly AlarmSetting[] = [OOPS]): ProblemCounters {
  let counters = NO_PROBLEMS;
  for (const atMs of times) counters = countProblem(counters, { subject, reason: 'KernelOops', atMs }, alarms);
  return counters;
}

describe('an alarm', () => {
  it.each<[string, number[], number, number]>([
    ['is raised by so many in its window', [0, 50, 99], 99, 1],
    ['is not raised by one fewer', [0, 50], 99, 0],
    ['is not raised by as many in a longer time', [0, 50, 100], 100, 0],
    ['counts what a clock that was set back left in the future as now', [500, 500, 500], 10, 1],
  ])('%s', (_what, times, nowMs, raised) => {
    expect(judgeAlarms(counted(times), [OOPS], nowMs).raised).toHaveLength(raised);
  });

  it('is raised once and cleared once, and says when it would be', () => {
    const first = judgeAlarms(counted([0, 50, 90]), [OOPS], 95);
    expect(first).toMatchObject({ raised: [{ subject: NODE, reason: 'KernelOops', count: 3, windowMs: 100 }], cleared: [], dueMs: 100 });
    const again = judgeAlarms(countProblem(first.counters, { subject: NODE, reason: 'KernelOops', atMs: 96 }, [OOPS]), [OOPS], 97);
    expect(again).toMatchObject({ raised: [], cleared: [], dueMs: 150 });
    const over = judgeAlarms(again.counters, [OOPS], 150);
    expect(over).toMatchObject({ raised: [], cleared: [{ subject: NODE }] });
    expect(judgeAlarms(over.counters, [OOPS], 151)).toMatchObject({ raised: [], cleared: [] });
  });

  it('counts each node and each owner by itself', () => {
    let counters = counted([1, 2]);
    for (const atMs of [3, 4, 5]) counters = countProblem(counters, { subject: OWNER, reason: 'KernelOops', atMs }, [OOPS]);
    expect(judgeAlarms(counters, [OOPS], 6).raised).toMatchObject([{ subject: OWNER }]);
  });

  it('that two Configurations ask for is one, and one that nobody asks for any more is cleared', () => {
    const { raised, counters } = judgeAlarms(counted([1, 2, 3]), [OOPS, { ...OOPS, where: 'there' }], 4);
    expect(raised).toHaveLength(1);
    expect(judgeAlarms(counters, [], 5)).toMatchObject({ cleared: [{ subject: NODE }], counters: { counted: [] } });
  });

  it('survives a new leader', () => {
    const { counters } = judgeAlarms(counted([1, 2, 3]), [OOPS], 4);
    expect(judgeAlarms(JSON.parse(JSON.stringify(counters)) as ProblemCounters, [OOPS], 5).raised).toEqual([]);
  });
});

describe('counts of problems', () => {
  it('are bounded in each window, and in how many there are', () => {
    expect(counted(Array.from({ length: 500 }, (_, index) => index)).counted).toMatchObject([{ timesMs: [497, 498, 499] }]);
    let counters = NO_PROBLEMS;
    for (let index = 0; index < COUNTED_MAX + 5; index += 1)
      counters = countProblem(counters, { subject: `node worker-${index}`, reason: 'KernelOops', atMs: index }, [OOPS]);
    expect(counters.counted).toHaveLength(COUNTED_MAX);
    expect(counters.counted[0]?.subject).toBe('node worker-5');
  });

  it('are not kept for reasons that no alarm names, nor for longer than their window', () => {
    expect(counted([1], NODE, [])).toBe(NO_PROBLEMS);
    expect(judgeAlarms(counted([1, 2]), [OOPS], 102).counters).toEqual(NO_PROBLEMS);
  });
});
