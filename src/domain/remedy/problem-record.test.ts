import { describe, expect, it } from 'vitest';
import { mergeProblems, NO_NODE_PROBLEMS, nodeProblems, problemRecord } from './problem-record.ts';
import type { NodeProblems } from './problem-record.ts';

const AT = Date.UTC(2026, 0, 1);
const KNOWN: NodeProblems = {
  counted: [
    { subject: 'workload Deployment shop/web', reason: 'KernelOops', timesMs: [AT] },
    { subject: 'node worker-1', reason: 'KernelOops', timesMs: [AT, AT + 1_000] },
  ],
  events: [{ uid: 'e-1', count: 2, lastMs: AT + 1_000 }],
  raised: [{ subject: 'node worker-1', reason: 'KernelOops', count: 2, windowMs: 60_000 }],
};

describe('what a report keeps of problems', () => {
  it('is all that is known of them', () => {
    const record = JSON.parse(JSON.stringify(problemRecord(KNOWN))) as ReturnType<typeof problemRecord>;
    expect(record).toEqual({
      counted: [
        { reason: 'KernelOops', workload: 'Deployment shop/web', times: ['2026-01-01T00:00:00.000Z'] },
        { reason: 'KernelOops', times: ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:01.000Z'] },
      ],
      events: [{ uid: 'e-1', count: 2, last: '2026-01-01T00:00:01.000Z' }],
      alarms: [{ reason: 'KernelOops', count: 2, windowMs: 60_000 }],
    });
    expect(nodeProblems('worker-1', record)).toEqual(KNOWN);
  });

  it('is nothing where nothing was counted, and what cannot be read is left out', () => {
    expect(problemRecord({ ...NO_NODE_PROBLEMS, events: KNOWN.events })).toBeUndefined();
    expect(nodeProblems('worker-1', undefined)).toBe(NO_NODE_PROBLEMS);
    const odd = { counted: [{ reason: 'KernelOops', times: ['yesterday'] }], events: [{ uid: 'e', count: 1, last: '' }] };
    expect(nodeProblems('worker-1', odd)).toEqual({ counted: [], events: [], raised: [] });
  });
});

describe('counts of two leaders', () => {
  const other: NodeProblems = {
    counted: [
      { subject: 'node worker-1', reason: 'KernelOops', timesMs: [AT + 1_000, AT + 1_000, AT + 5_000] },
      { subject: 'node worker-1', reason: 'OOMKilling', timesMs: [AT - 1] },
    ],
    events: [{ uid: 'e-1', count: 4, lastMs: AT + 5_000 }],
    raised: [],
  };

  it('are one, each problem once, and twice where one of them counted it twice', () => {
    const merged = mergeProblems(KNOWN, other);
    expect(merged.counted.map(({ subject, reason, timesMs }) => [subject, reason, timesMs.map((ms) => ms - AT)])).toEqual([
      ['node worker-1', 'OOMKilling', [-1]],
      ['workload Deployment shop/web', 'KernelOops', [0]],
      ['node worker-1', 'KernelOops', [0, 1_000, 1_000, 5_000]],
    ]);
    expect(merged).toMatchObject({ events: [{ uid: 'e-1', count: 4 }], raised: [] });
  });

  it('are the same again when they are merged again', () => {
    const merged = mergeProblems(KNOWN, other);
    expect(mergeProblems(merged, other)).toEqual(merged);
    expect(mergeProblems(other, merged)).toEqual({ ...merged, raised: merged.raised });
  });
});
