import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from './plan.ts';
import { Model, planOf } from './testing/model.ts';

const LIFE_WAIT_MS = 60_000;

/** The leader went under an open off, which the next one finds done; a hold has come meanwhile, and nobody was listened to for long. */
function takenOver(): Model {
  const model = new Model(planOf({ timing: { ...DEFAULT_TIMING, lifeWaitMs: LIFE_WAIT_MS } }));
  model.fail();
  expect(model.next()).toBe('run:cordon');
  model.runUntil(() => model.inFlight.size > 0);
  model.takeOver();
  model.holds = [{ reason: 'storm', policy: 'max-unhealthy', message: 'too many' }];
  expect(model.next('found-done', { edge: 'off', offSent: true })).toBe('off:off');
  return model;
}

describe('a hold after the first off that a new leader meets', () => {
  it('is waited for, though it has not listened for life_wait yet', () => {
    const model = takenOver();
    const metMs = model.nowMs;
    for (; model.nowMs < metMs + LIFE_WAIT_MS; model.nowMs += 1_000) {
      model.step();
      expect([...model.inFlight], `${model.nowMs - metMs} ms after it was met`).toEqual([]);
    }
    expect(model.status.hold?.policy).toBe('max-unhealthy');
    model.holds = [];
    expect(model.next(), 'proven anew').toBe('off:off');
    expect(model.next()).toBe('release:release');
  });

  it('stops the release, not the on, when it stands for longer', () => {
    const model = takenOver();
    const metMs = model.nowMs;
    expect(model.next()).toBe('on:on');
    expect(model.nowMs - metMs).toBeGreaterThanOrEqual(LIFE_WAIT_MS);
  });

  it('keeps no machine off whose node is Ready', () => {
    const model = takenOver();
    model.live({ ready: 'True' });
    const metMs = model.nowMs;
    expect(model.next()).toBe('on:on');
    expect(model.nowMs - metMs).toBeLessThan(LIFE_WAIT_MS);
    expect(model.events).not.toContain('NotReleased');
  });

  it.each(['Unknown', 'False'] as const)('is told once, although its node that is %s is not taken for failed yet', (ready) => {
    const model = takenOver();
    model.live({ ready });
    model.runUntil(() => {
      // All nodes are heard anew: an outage of the API server has ended.
      model.live();
      return model.inFlight.size > 0;
    });
    expect(model.next()).toBe('on:on');
    expect(model.events.filter((reason) => reason === 'NotReleased')).toHaveLength(1);
  });
});
