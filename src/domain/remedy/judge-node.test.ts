import { describe, expect, it } from 'vitest';
import type { AlarmSetting } from './configuration.ts';
import { judgeNode, UNNAMED_KEPT_MS } from './judge-node.ts';
import type { NodeJudgement } from './judge-node.ts';
import type { ProblemSubject, RaisedAlarm } from './problem-counters.ts';
import { isSame } from './problem-counters.ts';
import type { NodeProblems } from './problem-record.ts';

const OOPS: AlarmSetting = { reason: 'KernelOops', count: 3, windowMs: 1_000, where: 'here' };
const WEB: ProblemSubject = 'workload Deployment shop/web';

function of(subject: ProblemSubject, timesMs: number[], raised: RaisedAlarm[] = []): NodeProblems {
  return { counted: [{ subject, reason: 'KernelOops', timesMs }], events: [], raised };
}

function judged(node: string, all: Record<string, NodeProblems>, nowMs: number, alarms: AlarmSetting[] = [OOPS]): NodeJudgement {
  const problems = all[node] ?? { counted: [], events: [], raised: [] };
  const seen = (subject: ProblemSubject, reason: string): { node: string; timesMs: readonly number[]; alarms: AlarmSetting[] }[] =>
    Object.entries(all).flatMap(([name, { counted }]) =>
      counted.filter((one) => one.subject === subject && one.reason === reason).map(({ timesMs }) => ({ node: name, timesMs, alarms })),
    );
  const holderOf = (alarm: RaisedAlarm): string | undefined =>
    Object.entries(all).find(([, { raised }]) => raised.some((one) => isSame(one, alarm)))?.[0];
  return judgeNode({ node, problems, alarms, seen, holderOf, nowMs });
}

const RAISED: RaisedAlarm = { subject: WEB, reason: 'KernelOops', count: 3, windowMs: 1_000 };

describe('problems of one node', () => {
  it('raise its alarm once, and clear it', () => {
    const first = judged('a', { a: of('node a', [10, 20, 30]) }, 40);
    expect(first.news).toMatchObject([{ kind: 'raised', alarm: { subject: 'node a' }, problems: 3, nodes: ['a'] }]);
    expect(first.dueMs).toBe(1_010);
    const again = judged('a', { a: first.problems }, 41);
    expect([again.news, again.problems.raised.length]).toEqual([[], 1]);
    expect(judged('a', { a: again.problems }, 1_010)).toMatchObject({ news: [{ kind: 'cleared' }], problems: { raised: [] } });
  });

  it('are forgotten after the longest window, and kept for a day where no alarm names them any more: a typing error forgets nothing', () => {
    expect(judged('a', { a: of('node a', [10, 20]) }, 1_015).problems.counted).toMatchObject([{ timesMs: [20] }]);
    expect(judged('a', { a: of('node a', [10, 20]) }, 1_020)).toMatchObject({ problems: { counted: [] }, dueMs: Infinity });
    const raised = { ...RAISED, subject: 'node a' as const };
    const unnamed = judged('a', { a: of('node a', [10, 20], [raised]) }, 5_000, []);
    expect(unnamed).toMatchObject({ problems: { counted: [{ timesMs: [10, 20] }], raised: [] }, news: [{ kind: 'cleared' }] });
    expect(judged('a', { a: of('node a', [10, 20]) }, 15 + UNNAMED_KEPT_MS, []).problems.counted).toMatchObject([{ timesMs: [20] }]);
  });

  it('that a clock put into the future are of now', () => {
    expect(judged('a', { a: of('node a', [90_000]) }, 10).problems.counted).toMatchObject([{ timesMs: [10] }]);
  });
});

describe('a workload on several nodes', () => {
  const all = { a: of(WEB, [10]), b: of(WEB, [20]), c: of(WEB, [30]) };

  it('raises its alarm on the node of its latest problem, and nowhere else', () => {
    expect(judged('a', all, 40).news).toEqual([]);
    expect(judged('b', all, 40).news).toEqual([]);
    expect(judged('c', all, 40)).toMatchObject({
      news: [{ kind: 'raised', alarm: RAISED, problems: 3, nodes: ['a', 'b', 'c'] }],
      problems: { raised: [RAISED] },
      dueMs: 1_010,
    });
  });

  it('is told once, whoever has the next problem', () => {
    const told = { ...all, a: of(WEB, [10], [RAISED]), c: of(WEB, [30, 50]) };
    expect(judged('c', told, 60)).toMatchObject({ news: [], problems: { raised: [] } });
    expect(judged('a', told, 60)).toMatchObject({ news: [], problems: { raised: [RAISED] } });
  });

  it('is cleared by the node that told it', () => {
    const told = { ...all, c: of(WEB, [30], [RAISED]) };
    expect(judged('c', told, 1_010)).toMatchObject({ news: [{ kind: 'cleared', alarm: RAISED }], problems: { raised: [] } });
    expect(judged('a', told, 1_005).news).toEqual([]);
  });

  it('is told anew where the report that said so is gone', () => {
    expect(judged('c', { a: of(WEB, [10]), c: of(WEB, [20, 30]) }, 40).news).toMatchObject([{ kind: 'raised', nodes: ['a', 'c'] }]);
  });
});
