import { describe, expect, it } from 'vitest';
import { READ_BACK_EVIDENCE } from './evidence.ts';
import type { EvidenceKind, Plan } from './plan.ts';
import { compile, provingOperation } from './program.ts';
import { method, Model, planOf } from './testing/model.ts';

const WATCHDOG = method('dog', 'watchdog', 'run', { kind: 'action', device: '', evidence: 'watchdog', runMaxMs: 120_000 });

function plan(minimumEvidence: readonly EvidenceKind[] = [...READ_BACK_EVIDENCE, 'watchdog'], more: Partial<Plan> = {}): Plan {
  const powerManagement = [
    { level: 1, methods: [method('off', 'redfish', 'off', { device: 'bmc' })] },
    { level: 2, methods: [WATCHDOG] },
  ];
  return planOf({ powerManagement, minimumEvidence, ...more });
}

/** The BMC is dead; the watchdog has bitten. */
function bitten(configured: Plan): Model {
  const model = new Model(configured);
  model.fail();
  expect(model.next()).toBe('run:cordon');
  expect(model.next('refused')).toBe('off:off');
  model.runUntil(() => model.inFlight.size > 0);
  expect(model.dispatched.at(-1)?.entry.operation).toBe('run:dog');
  prove(model);
  return model;
}

function prove(model: Model): void {
  const evidence = { kind: 'watchdog' as const, grade: 'inferred' as const, detail: 'it has expired', observedAt: 'now', bootID: 'boot-1' };
  model.proofs.set(model.dispatched.at(-1)?.entry.id ?? '', model.nowMs);
  model.finish('succeeded', { evidence, evidenceAtMs: model.nowMs });
}

describe('what an action proves by waiting', () => {
  it('permits the release where minimum_evidence names its kind', () => {
    expect(compile(plan(), 'power-management', 2).map(({ key }) => key)).toEqual(['run:dog', 'release', 'release-end']);
    const model = bitten(plan());
    model.step();
    expect(model.status.evidence.at(-1)).toMatchObject({ kind: 'watchdog', grade: 'inferred' });
    expect(model.events).toContain('NodeProvenGone');
    expect(model.next()).toBe('release:release');
  });

  it('stands at a heartbeat of the daemon, which speaks until it is reset and when it has booted anew, and is void when the kubelet is heard', () => {
    const model = bitten(plan());
    model.nowMs += 1_000;
    if (model.node !== undefined) model.node = { ...model.node, heardAtMs: model.nowMs };
    model.step();
    expect(model.status.evidence.at(-1)).toMatchObject({ kind: 'watchdog' });
    expect(model.status.evidence.at(-1)?.voidedBecause).toBeUndefined();
    model.nowMs += 1_000;
    if (model.node !== undefined) model.node = { ...model.node, lifeAtMs: model.nowMs };
    model.step();
    expect(model.status.evidence.at(-1)?.voidedBecause).toContain('was received');
  });

  it('permits nothing where it does not', () => {
    const model = bitten(plan(READ_BACK_EVIDENCE));
    for (let count = 0; count < 20; count += 1) {
      model.step();
      model.nowMs += 1_000;
    }
    expect(model.dispatched.map(({ entry }) => entry.action)).not.toContain('release');
  });

  it('permits nothing either on what an earlier level has proven, for this one does not read that anew', () => {
    const model = new Model(plan(READ_BACK_EVIDENCE));
    model.fail();
    expect(model.next()).toBe('run:cordon');
    const latest = (): string | undefined => model.dispatched.at(-1)?.entry.operation;
    // The off is proven, and the API server refuses the release until the level has failed.
    model.runUntil(() => model.inFlight.size > 0);
    while (latest() !== 'run:dog') {
      model.finish(latest() === 'release' ? 'failed' : 'succeeded');
      model.runUntil(() => model.inFlight.size > 0);
    }
    expect(model.status.evidence.some(({ kind, voidedAt }) => kind === 'power-off' && voidedAt === undefined)).toBe(true);
    prove(model);
    const after: string[] = [];
    for (let count = 0; count < 20 && model.status.state === 'running'; count += 1) {
      model.step();
      model.nowMs += 1_000;
      if (model.inFlight.size === 0) continue;
      after.push(latest() ?? '');
      if (latest() === 'run:dog') prove(model);
      else model.finish('succeeded');
    }
    expect(after).toEqual(['release-end']);
  });

  it('is asked for once more before a release that comes later', () => {
    expect(provingOperation(plan(), 'power-management', 2)?.key).toBe('run:dog');
    expect(provingOperation(plan(), 'power-management', 1)?.key).toBe('off:off');
    const model = bitten(plan());
    model.nowMs += 30_000;
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)?.entry).toMatchObject({ action: 'confirm', method: 'dog' });
    prove(model);
    expect(model.next()).toBe('release:release');
  });

  it('is void after a sign of life that came while it waited', () => {
    const model = bitten(plan());
    model.nowMs += 100;
    model.live();
    model.step();
    expect(model.status.evidence.at(-1)?.voidedBecause).toContain('was received');
  });

  it('gives no release to a level that proves nothing', () => {
    const ssh = planOf({ powerManagement: [{ level: 1, methods: [method('ssh', 'ssh', 'run', { kind: 'action', device: '' })] }] });
    expect(compile(ssh, 'power-management', 1).map(({ key }) => key)).toEqual(['run:ssh']);
    expect(provingOperation(ssh, 'power-management', 1)).toBeUndefined();
  });
});
