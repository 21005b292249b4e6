import { describe, expect, it } from 'vitest';
import type { ProblemRecord } from './problem-record.ts';
import { problemRows } from './problem-rows.ts';

const WEB = 'Deployment shop/web';
const at = (...hours: number[]): string[] => hours.map((hour) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString());
const RECORDS: { node: string; record: ProblemRecord | undefined }[] = [
  {
    node: 'w2',
    record: {
      counted: [{ reason: 'KernelOops', workload: WEB, times: at(3, 4) }],
      alarms: [{ reason: 'KernelOops', workload: WEB, count: 3, windowMs: 86_400_000 }],
    },
  },
  { node: 'w1', record: { counted: [{ reason: 'KernelOops', workload: WEB, times: at(2) }] } },
  { node: 'w3', record: { counted: [{ reason: 'OOMKilling', times: at(1, 2, 3, 4, 5) }] } },
  { node: 'w4', record: undefined },
];

describe('what was counted', () => {
  it('is one row for each node or workload and reason, over all nodes, those with an alarm first', () => {
    expect(problemRows(RECORDS)).toEqual([
      {
        ...{ subject: WEB, reason: 'KernelOops', problems: 3, nodes: ['w1', 'w2'] },
        ...{ firstAt: '2026-01-01T02:00:00.000Z', lastAt: '2026-01-01T04:00:00.000Z', alarms: [{ count: 3, windowMs: 86_400_000 }] },
      },
      {
        ...{ subject: 'node w3', reason: 'OOMKilling', problems: 5, nodes: ['w3'] },
        ...{ firstAt: '2026-01-01T01:00:00.000Z', lastAt: '2026-01-01T05:00:00.000Z', alarms: [] },
      },
    ]);
  });

  it('of one node has what its workloads did elsewhere, and nothing of others', () => {
    expect(problemRows(RECORDS, 'w1').map(({ subject, nodes }) => [subject, nodes])).toEqual([[WEB, ['w1', 'w2']]]);
    expect(problemRows(RECORDS, 'w4')).toEqual([]);
  });
});
