import { describe, expect, it } from 'vitest';
import type { EvidenceKind, PlanMethod } from '../domain/plan.ts';
import type { Outcome } from '../ports/agents.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Harness, methodOf } from './testing/harness.ts';
import { entryOf } from './testing/job.ts';

describe('a power agent of another kind of evidence', () => {
  it.each(['instance-stopped', 'host-off'] as const)('gives %s for its stable off, read back', async (evidence) => {
    const harness = new Harness(new ManualClock());
    const report = await harness.run(harness.job(methodOf('vm', 'power', { evidence }), 'off'));
    expect(report.evidence).toMatchObject({ kind: evidence, grade: 'read-back', identity: 'verified' });
  });
});

describe('an action that waits for a proof', () => {
  const DOG = methodOf('dog', 'action', { action: 'run', device: '', evidence: 'watchdog', runMaxMs: 60_000 });

  /** Runs an action that says after `takesMs` that this is proven. */
  async function run(says: EvidenceKind, method: PlanMethod = DOG, more: { takesMs?: number; step?: 'isolation' } = {}) {
    const harness = new Harness(new ManualClock());
    harness.action.run = async ({ signal }): Promise<Outcome> => {
      await harness.clock.sleep(more.takesMs ?? 30_000, signal);
      return { result: 'accepted', detail: 'it has expired', evidence: { kind: says, grade: 'read-back' } };
    };
    const entry = entryOf(method, 'run', { bootID: 'boot-1', ...(more.step === undefined ? {} : { step: more.step }) });
    const beganAtMs = harness.clock.monotonicMs();
    return { report: await harness.run(harness.job(method, 'run', { entry })), beganAtMs, harness };
  }

  it('may wait as long as its agent says, and rests on the moment in which it began: life received meanwhile voids it', async () => {
    const { report, beganAtMs } = await run('watchdog');
    expect(report).toMatchObject({
      result: 'succeeded',
      evidence: { kind: 'watchdog', grade: 'inferred', bootID: 'boot-1' },
      evidenceAtMs: beganAtMs,
    });
  });

  it('is cut off where it takes longer', async () => {
    const { report, harness, beganAtMs } = await run('watchdog', DOG, { takesMs: 3_600_000 });
    expect(report.result).toBe('timeout');
    expect(report).not.toHaveProperty('evidence');
    expect(harness.clock.monotonicMs() - beganAtMs).toBeLessThanOrEqual(60_100);
  });

  it.each<[string, EvidenceKind, PlanMethod, { step?: 'isolation' }]>([
    ['of another kind than its method was frozen with', 'kdump', DOG, {}],
    ['that only a device or a person can give: power-off', 'power-off', { ...DOG, evidence: 'power-off' }, {}],
    ['that only a device or a person can give: ack', 'ack', { ...DOG, evidence: 'ack' }, {}],
    ['where its method names none', 'watchdog', methodOf('dog', 'action', { action: 'run', runMaxMs: 60_000 }), {}],
    ['outside power-management', 'watchdog', DOG, { step: 'isolation' }],
  ])('gives no evidence %s', async (_what, says, method, more) => {
    const { report } = await run(says, method, more);
    expect(report.result).toBe('succeeded');
    expect(report).not.toHaveProperty('evidence');
  });

  it('gives fresh evidence when it still stands, and none when it does not', async () => {
    const harness = new Harness(new ManualClock());
    const entry = entryOf(DOG, 'confirm', { operation: 'run:dog' });
    const report = await harness.run(harness.job(DOG, 'confirm', { entry }));
    expect(report).toMatchObject({ result: 'succeeded', evidence: { kind: 'watchdog', grade: 'inferred' } });
    harness.action.confirm = () => Promise.resolve(false);
    expect(await harness.run(harness.job(DOG, 'confirm', { entry }))).toMatchObject({ result: 'found-not-done' });
  });
});
