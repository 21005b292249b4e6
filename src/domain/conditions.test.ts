import { describe, expect, it } from 'vitest';
import { Model, planOf } from './testing/model.ts';
import { withConditions } from './conditions.ts';

describe('the condition WorkloadReleased', () => {
  it.each([
    [1, 'by out-of-service, 1 pod'],
    [2, 'by out-of-service, 2 pods'],
  ])('counts %i', (pods, words) => {
    const model = new Model(planOf({}));
    model.fail();
    model.next();
    const released = { by: 'out-of-service' as const, at: '2026-01-01T00:00:00Z', pods, evidence: 'off-1' };
    const told = withConditions({ ...model.status, released }, '2026-01-01T00:00:01Z').conditions.find(({ type }) => type === 'WorkloadReleased');
    expect(told?.message).toBe(words);
  });
});
