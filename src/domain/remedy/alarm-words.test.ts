import { expect, it } from 'vitest';
import { alarmRows, alarmWords } from './alarm-words.ts';
import type { ProblemRecord } from './problem-record.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2026, 0, 2);

function at(...hoursAgo: number[]): string[] {
  return hoursAgo.map((hours) => new Date(NOW - hours * 3_600_000).toISOString());
}

it('an alarm is told in one line, the worst first: of a workload over its nodes', () => {
  const told = { reason: 'KernelOops', count: 3, windowMs: DAY_MS };
  const records: [string, ProblemRecord | undefined][] = [
    ['w1', { counted: [{ reason: 'KernelOops', workload: 'Deployment shop/web', times: at(30, 2) }] }],
    [
      'w2',
      { counted: [{ reason: 'KernelOops', workload: 'Deployment shop/web', times: at(3) }], alarms: [{ ...told, workload: 'Deployment shop/web' }] },
    ],
    ['w3', { counted: [{ reason: 'KernelOops', workload: 'Deployment shop/web', times: at(5, 4) }] }],
    ['w4', { counted: [{ reason: 'OOMKilling', times: at(0.5, 0.1) }], alarms: [{ reason: 'OOMKilling', count: 2, windowMs: 5_400_000 }] }],
    ['w5', undefined],
  ];
  const rows = alarmRows(
    records.map(([node, record]) => ({ node, record })),
    NOW,
  );
  expect(rows.map((row) => `${row.subject}: ${alarmWords(row)}`)).toEqual([
    'Deployment shop/web: 4 KernelOops on 3 nodes in 24h',
    'node w4: 2 OOMKilling in 1h30m',
  ]);
});
