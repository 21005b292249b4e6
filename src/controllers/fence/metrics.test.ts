import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import { NO_METRICS } from '../../ports/metrics.ts';
import { measure } from './metrics.ts';
import { entryOf } from './storm/testing/entries.ts';
import { provenStatus } from './testing/harness.ts';

const CORDON = entryOf({ startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:02Z', result: 'succeeded' });
const OFF = entryOf({ step: 'power-management', action: 'off', startedAt: '2026-01-01T00:00:05Z', finishedAt: '2026-01-01T00:00:15Z' });

function steps(before: Partial<NodeFenceStatus>, after: Partial<NodeFenceStatus>): unknown[][] {
  const steps: unknown[][] = [];
  const status = provenStatus(planOf({ timing: DEFAULT_TIMING }));
  measure({ ...NO_METRICS.fence, stepFinished: (...step) => steps.push(step) }, { ...status, ...before }, { ...status, ...before, ...after });
  return steps;
}

describe('the time that a step took', () => {
  it.each<[string, Partial<NodeFenceStatus>, Partial<NodeFenceStatus>, unknown[][]]>([
    [
      'isolation',
      { state: 'new', step: 'isolation', journal: [CORDON] },
      { state: 'running', step: 'power-management' },
      [['isolation', 'done', 2_000]],
    ],
    [
      'power-management that failed',
      { state: 'running', step: 'power-management', journal: [CORDON, OFF] },
      { state: 'error' },
      [['power-management', 'error', 10_000]],
    ],
    ['a step that did not run: the node came back', { state: 'running', step: 'power-management', journal: [CORDON] }, { state: 'done' }, []],
    ['a step that goes on', { state: 'running', step: 'power-management', journal: [CORDON, OFF] }, {}, []],
    ['what ran before a restart', { state: 'new', step: 'isolation', restarts: 1, journal: [CORDON] }, { state: 'running' }, []],
  ])('%s', (_what, before, after, measured) => {
    expect(steps(before, after)).toEqual(measured);
  });
});
