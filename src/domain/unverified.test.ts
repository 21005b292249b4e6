import { describe, expect, it } from 'vitest';
import { DEFAULT_TIMING } from './plan.ts';
import type { Plan } from './plan.ts';
import { isolated, levels, OFF, ON } from './testing/course.ts';
import type { Model } from './testing/model.ts';

const { lifeWaitMs } = DEFAULT_TIMING;

/** What is begun next succeeds; its device, read so long before, did not show whose machine it switches. */
function unverified(model: Model, readMsAgo = 0): string {
  model.runUntil(() => model.inFlight.size > 0);
  const entry = model.dispatched.at(-1)?.entry;
  const readAtMs = model.nowMs - readMsAgo;
  model.finish('succeeded');
  model.proofs.set(entry?.id ?? '', readAtMs);
  model.reports = model.reports.map((report) =>
    report.evidence === undefined ? report : { ...report, evidence: { ...report.evidence, identity: 'unverified' }, evidenceAtMs: readAtMs },
  );
  return `${entry?.action ?? ''}:${entry?.method ?? ''}`;
}

function provenOff(plan: Partial<Plan> = {}, readMsAgo = 0): Model {
  const model = isolated({ identity: 'unverified', ...levels([OFF, ON]), ...plan });
  expect(unverified(model, readMsAgo)).toBe('off:off');
  return model;
}

describe('a machine whose device does not show that it is that machine', () => {
  it('has been silent for life_wait when its workload is let go, counted from the first read that proved it off', () => {
    const model = provenOff({}, 1_000);
    const readAtMs = model.nowMs - 1_000;
    expect(unverified(model), 'it is read again').toBe('confirm:off');
    expect(model.nowMs - readAtMs).toBe(lifeWaitMs);
    expect(model.next()).toBe('release:release');
  });

  it('is read again at once by a successor, which counts the silence from its own read, and lets the workload go', () => {
    const model = provenOff();
    model.step();
    model.takeOver();
    model.fail();
    const tookOverAtMs = model.nowMs;
    expect(unverified(model)).toBe('confirm:off');
    expect(model.nowMs - tookOverAtMs).toBe(0);
    expect(unverified(model)).toBe('confirm:off');
    expect(model.nowMs - tookOverAtMs).toBe(lifeWaitMs);
    expect(model.next()).toBe('release:release');
  });

  it('waits for nothing of that where nothing is to be let go', () => {
    const model = provenOff({ release: 'none' });
    const provenAtMs = model.nowMs;
    expect(model.next()).toBe('on:on');
    expect(model.nowMs - provenAtMs).toBeLessThan(lifeWaitMs);
  });
});
