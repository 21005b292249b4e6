import { expect, it } from 'vitest';
import type { ProblemRow } from '../../../domain/remedy/problem-rows.ts';
import { PLAIN } from '../terminal/ink.ts';
import { problemsPage } from './problems-page.ts';

const SHEET = { ink: PLAIN, width: 120, nowMs: Date.UTC(2026, 0, 1, 5) };
const ROW: ProblemRow = {
  ...{ subject: 'Deployment shop/web', reason: 'KernelOops', problems: 5, nodes: ['w1', 'w2', 'w3', 'w4'] },
  ...{ firstAt: '2026-01-01T02:00:00.000Z', lastAt: '2026-01-01T04:00:00.000Z', alarms: [{ count: 3, windowMs: 86_400_000 }] },
};

it('a problem is one line: whose it is, how often, when last, and of which alarm', () => {
  expect(problemsPage([ROW, { ...ROW, subject: 'node w1', nodes: ['w1'], problems: 1, alarms: [] }], undefined, SHEET).split('\n')).toEqual([
    'SUBJECT              PROBLEM     COUNT  LAST                ALARM     NODES',
    'Deployment shop/web  KernelOops  5      04:00:00Z (1h ago)  3 in 24h  w1, w2, w3 and 1 more',
    'node w1              KernelOops  1      04:00:00Z (1h ago)  -         w1',
  ]);
});

it('where nothing was counted it says what would be', () => {
  expect(problemsPage([], 'w9', SHEET)).toBe('No problem of node w9 was counted. Alarms of remedies name what is counted.');
});
