import { planOf } from '../../src/domain/testing/model.ts';
import type { NodeFence } from '../../src/ports/resources.ts';

/** Of a fence that is over. */
export const FENCE_STATUS: NonNullable<NodeFence['status']> = {
  state: 'final',
  step: 'recovery',
  level: 1,
  incident: 1,
  epoch: 1,
  retries: 0,
  restarts: 0,
  frozen: { nodeUID: 'n', plan: planOf() },
  trigger: { kind: 'node-condition', since: '2027-01-01T00:00:00Z' },
  jobs: [],
  journal: [],
  evidence: [],
  timeline: {},
  conditions: [],
  history: [],
};
