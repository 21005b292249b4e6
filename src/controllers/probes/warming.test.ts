import { describe, expect, it } from 'vitest';
import type { NodeFence } from '../../ports/resources.ts';
import { planOf } from '../../domain/testing/model.ts';
import { provenStatus } from '../fence/testing/harness.ts';
import { isOffNear, isPrompt, isSuspect } from './warming.ts';

type Status = NodeFence['status'] & object;

const { isolationDelayMs, powerManagementDelayMs } = planOf().timing;
const NOW_MS = Date.parse('2026-01-02T00:00:00Z');

function ago(ms: number): string {
  return new Date(NOW_MS - ms).toISOString();
}

function fenceOf(status: Partial<Status>): NodeFence {
  return { metadata: { name: 'node-fence-a' }, spec: { node: 'a' }, status: { ...provenStatus(planOf()), ...status } };
}

describe('a node that is not heard', () => {
  const { lifeWaitMs } = planOf().timing;

  it.each([
    [lifeWaitMs, false],
    [lifeWaitMs + 1, true],
    [lifeWaitMs + 60_000, true],
    [lifeWaitMs + 60_001, false],
  ])('for %i ms is a suspect: %s', (silentMs, isOne) => {
    expect(isSuspect(silentMs, planOf())).toBe(isOne);
  });

  it.each([
    [0, 0, true],
    [5_000, 15_000, true],
    [5_000, 15_001, false],
  ])('is switched off at once with delays of %i and %i ms: %s', (isolationMs, powerMs, isOne) => {
    const timing = { ...planOf().timing, isolationDelayMs: isolationMs, powerManagementDelayMs: powerMs };
    expect(isPrompt(planOf({ timing }))).toBe(isOne);
  });
});

describe('the first off of a fence', () => {
  it.each([
    [20_000, true],
    [20_001, false],
    [-60_000, true],
    [-60_001, false],
  ])('is near %i ms before it is due: %s', (remainingMs, isNear) => {
    expect(isOffNear(fenceOf({ timeline: { isolatedAt: ago(powerManagementDelayMs - remainingMs) } }), NOW_MS)).toBe(isNear);
    const noticedAt = ago(isolationDelayMs + powerManagementDelayMs - remainingMs);
    expect(isOffNear(fenceOf({ state: 'new', timeline: { noticedAt } }), NOW_MS)).toBe(isNear);
  });

  const timeline = { isolatedAt: ago(powerManagementDelayMs) };
  const notNear: [string, Partial<Status>][] = [
    ['that is held', { timeline, hold: { reason: 'storm', message: '', since: ago(0) } as unknown as NonNullable<Status['hold']> }],
    ['that has sent it', { timeline, journal: [{ id: '1', action: 'off' } as Status['journal'][number]] }],
    ['whose node is brought back', { timeline, state: 'done' }],
    ['that has ended', { timeline, state: 'final' }],
    ['of which nothing is known yet', { timeline: {} }],
  ];
  it.each(notNear)('is not near of one %s', (_name, status) => {
    expect(isOffNear(fenceOf({ timeline }), NOW_MS)).toBe(true);
    expect(isOffNear(fenceOf(status), NOW_MS)).toBe(false);
    expect(isOffNear({ metadata: { name: 'node-fence-a' }, spec: { node: 'a' } }, NOW_MS)).toBe(false);
  });
});
