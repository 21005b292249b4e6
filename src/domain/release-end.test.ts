import { describe, expect, it } from 'vitest';
import { Model } from './testing/model.ts';

/** Proven off, and its workload released by our taint. */
function released(): Model {
  const model = new Model();
  model.fail();
  expect([model.next(), model.next(), model.next()]).toEqual(['run:cordon', 'off:off', 'release:release']);
  model.step();
  return model;
}

/** How long after the release our taint is taken back. */
function endsAfterMs(model: Model): number {
  const beganMs = model.nowMs;
  model.runUntil(() => model.inFlight.size > 0);
  expect(model.dispatched.at(-1)?.entry.operation).toBe('release-end');
  return model.nowMs - beganMs;
}

describe('our taint', () => {
  it.each([
    ['a pod', { pods: 1, terminating: 1, volumeAttachments: 0 }],
    ['a volume', { pods: 0, terminating: 0, volumeAttachments: 1 }],
  ])('stays while %s is left, for release_timeout at most', (_what, workload) => {
    const model = released();
    model.workload = workload;
    const { releaseTimeoutMs, settleMs } = model.plan.timing;
    const waitedMs = endsAfterMs(model);
    expect(waitedMs).toBeGreaterThanOrEqual(releaseTimeoutMs);
    expect(waitedMs).toBeLessThan(releaseTimeoutMs + settleMs);
  });

  it('goes as soon as nothing is left', () => {
    const model = released();
    model.drained();
    expect(endsAfterMs(model)).toBeLessThan(model.plan.timing.settleMs);
  });

  it('goes at once where the node lives after all, whatever is left', () => {
    const model = released();
    model.nowMs += 1_000;
    model.live({ ready: 'True' });
    expect(endsAfterMs(model)).toBeLessThan(model.plan.timing.settleMs);
    expect(model.status.released?.voidedAt).toBeDefined();
  });
});
