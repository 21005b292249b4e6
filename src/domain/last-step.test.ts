import { describe, expect, it } from 'vitest';
import type { NodeFenceSpec } from './node-fence.ts';
import type { Plan } from './plan.ts';
import { method, Model, planOf } from './testing/model.ts';

const PORT = { kind: 'fabric', device: 'switch', storage: 'san' } as const;
const CLOSING: Partial<Plan> = {
  isolation: [{ level: 1, methods: [method('close', 'fc-switch', 'off', PORT)] }],
  recovery: [{ level: 1, methods: [method('open', 'fc-switch', 'on', PORT)] }],
};

function requester(uid: string): NonNullable<NodeFenceSpec['requestedBy']> {
  return { apiVersion: 'node-remedy/v1alpha', kind: 'RemedyConfiguration', name: 'disks', uid };
}

/** A Ready node, beating, whose fence is asked to end in isolation. */
function asked(plan: Partial<Plan> = {}, more: Partial<NodeFenceSpec> = { lastStep: 'isolation' }): Model {
  const model = new Model(planOf(plan));
  model.fence = {
    uid: 'fence-1',
    spec: { node: 'a', requestedBy: requester('run-1'), ...more },
    status: undefined,
    deleting: false,
    finalized: true,
  };
  return model;
}

function wish(model: Model, spec: Partial<NodeFenceSpec>): void {
  if (model.fence !== undefined) model.fence = { ...model.fence, spec: { node: 'a', ...spec } };
}

/** Passes of a node that beats every ten seconds, each run answered with success. Returns what was begun. */
function play(model: Model, seconds: number, reached: () => boolean = () => false): string[] {
  const begun: string[] = [];
  for (const endMs = model.nowMs + seconds * 1_000; model.nowMs < endMs && !reached();) {
    model.step();
    const entry = model.dispatched.at(-1)?.entry;
    if (model.inFlight.size > 0 && entry !== undefined) {
      begun.push(`${entry.action === 'confirm' ? 'confirm ' : ''}${entry.operation}`);
      const isClosing = entry.step === 'isolation' && entry.action === 'off';
      const revoked = { kind: 'storage-revoked' as const, grade: 'read-back' as const, detail: 'closed', observedAt: '2026-01-01T00:00:00Z' };
      const boot = model.node?.bootID === undefined ? {} : { bootID: model.node.bootID };
      if (isClosing) model.proofs.set(entry.id, model.nowMs);
      const evidence = isClosing ? { evidence: { ...revoked, storages: ['san'], ...boot }, evidenceAtMs: model.nowMs } : {};
      const release = { at: '2026-01-01T00:00:00Z', pods: 1, evidence: entry.id, storages: ['san'], ...boot };
      model.finish('succeeded', { ...evidence, ...(entry.action === 'release' && entry.step === 'isolation' && { storageRelease: release }) });
    } else {
      model.nowMs += 10_000;
      if (model.node?.ready === 'True') model.live();
    }
  }
  return begun;
}

describe('a fence that is asked to go no further than isolation', () => {
  it('isolates a node that is Ready, and waits: in words, without an alarm, its slot given away', () => {
    const model = asked();
    expect(play(model, 7_200)).toEqual(['run:cordon']);
    expect(model.status).toMatchObject({ state: 'running', lastStep: 'isolation', slotGivenAway: true });
    expect(model.status.hold).toMatchObject({ reason: 'isolation-only', policy: 'isolation-only' });
    expect(model.status.message).toContain('asked to go no further than isolation');
    expect(model.events.filter((reason) => reason === 'FencingHeld')).toHaveLength(1);
    expect(model.events).not.toContain('FencingHeldTooLong');
    expect(model.step().requeueAtMs, 'only a change can bring it on').toBeUndefined();
  });

  it('lets go what its revoked storages permit, although the node lives and says so meanwhile', () => {
    const model = asked(CLOSING);
    model.runUntil(() => model.inFlight.size > 0);
    const revoked = { kind: 'storage-revoked' as const, grade: 'read-back' as const, detail: 'closed', storages: ['san'], bootID: 'boot-1' };
    model.proofs.set(model.dispatched.at(-1)?.entry.id ?? '', model.nowMs);
    model.finish('succeeded', { evidence: { ...revoked, observedAt: '2026-01-01T00:00:00Z' }, evidenceAtMs: model.nowMs });
    model.nowMs += 500;
    model.live();
    expect(model.step().dispatch?.entry.operation).toBe('release');
    expect(model.events).not.toContain('EvidenceVoided');
  });

  it('reads its ports again before a release that is late', () => {
    const model = asked(CLOSING);
    model.runUntil(() => model.inFlight.size > 0);
    const revoked = { kind: 'storage-revoked' as const, grade: 'read-back' as const, detail: 'closed', storages: ['san'], bootID: 'boot-1' };
    model.proofs.set(model.dispatched.at(-1)?.entry.id ?? '', model.nowMs);
    model.finish('succeeded', { evidence: { ...revoked, observedAt: '2026-01-01T00:00:00Z' }, evidenceAtMs: model.nowMs });
    model.step();
    model.finish('not-sent');
    model.step();
    model.step();
    model.nowMs += 5_000;
    model.live();
    expect(model.step().dispatch?.entry).toMatchObject({ action: 'confirm', operation: 'off:close' });
  });

  it('is not healthy on another boot either: it stays isolated for as long as it is asked for', () => {
    const model = asked();
    play(model, 60);
    model.live({ bootID: 'boot-2' });
    expect(play(model, 3_600)).toEqual([]);
    expect(model.status.state).toBe('running');
  });

  it('recovers by its health when the request is withdrawn', () => {
    const model = asked();
    play(model, 60);
    wish(model, {});
    expect(play(model, 600, () => model.fence?.status?.state === 'final')).toEqual(['run:uncordon']);
    expect(model.status).toMatchObject({ state: 'final', outcome: 'recovered', trigger: { kind: 'node-condition' } });
    expect(model.status.lastStep).toBeUndefined();
  });

  it('is switched off first where pods were let go of storage that this boot could write to, when the request is withdrawn', () => {
    const model = asked(CLOSING);
    expect(play(model, 60)).toEqual(['off:close', 'release']);
    expect(model.status.hold?.policy).toBe('isolation-only');
    wish(model, {});
    expect(play(model, 600)[0]).toBe('off:off');
  });

  it('goes on to power-management when the request is replaced by one for the whole fence', () => {
    const model = asked();
    play(model, 60);
    wish(model, { requestedBy: requester('run-2') });
    expect(play(model, 600)[0]).toBe('off:off');
    expect(model.status.trigger).toMatchObject({ requestUID: 'run-2' });
  });

  it('goes on when the node fails by itself, not before it had power_management_delay from then', () => {
    const model = asked();
    play(model, 3_600);
    model.fail();
    model.step();
    expect(model.status.hold).toBeUndefined();
    const failedMs = model.nowMs;
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)?.entry.operation).toBe('off:off');
    expect(model.nowMs).toBe(failedMs + model.plan.timing.powerManagementDelayMs);
  });

  it('gives that time also when the request is withdrawn meanwhile', () => {
    const model = asked();
    play(model, 3_600);
    model.fail();
    model.step();
    const failedMs = model.nowMs;
    model.nowMs += 20_000;
    wish(model, {});
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.nowMs).toBe(failedMs + model.plan.timing.powerManagementDelayMs);
  });

  it('holds again when the node is back before the off', () => {
    const model = asked();
    play(model, 60);
    model.fail();
    model.step();
    model.nowMs += 60_000;
    model.live({ ready: 'True' });
    expect(play(model, 3_600)).toEqual([]);
    expect(model.status.hold?.policy).toBe('isolation-only');
  });

  it('is carried through after an off, although it is still asked for: on, and recovered on another boot', () => {
    const model = asked({ release: 'none' });
    play(model, 60);
    model.fail();
    model.runUntil(() => model.inFlight.size > 0);
    model.finish('succeeded');
    expect(model.next()).toBe('on:on');
    model.step();
    model.live({ ready: 'True', bootID: 'boot-2' });
    expect(play(model, 600, () => model.fence?.status?.state === 'final')).toEqual(['run:uncordon']);
    expect(model.status.outcome).toBe('recovered');
  });

  it('switches on again what it has switched off, though the node is Ready by then', () => {
    const model = asked({ release: 'none' });
    play(model, 60);
    model.fail();
    model.runUntil(() => model.inFlight.size > 0);
    model.finish('succeeded');
    model.step();
    model.nowMs += 60_000;
    model.live({ ready: 'True', bootID: 'boot-2' });
    expect(model.next()).toBe('on:on');
    expect(model.status.hold).toBeUndefined();
  });

  it('does not switch a preserved machine off whose isolation fails, though its pods must move', () => {
    const model = asked({ preserved: 'power-off', stepRetries: 0, maxRestarts: 0 });
    model.preservation = { kind: 'isolate-and-hold', cause: 'user' };
    model.runUntil(() => model.inFlight.size > 0);
    model.finish('refused');
    expect(play(model, 3_600)).toEqual([]);
    expect(model.status.state).toBe('error');
  });

  it('respects a stop and holds before isolation like every other', () => {
    const model = asked();
    model.holds = [{ reason: 'storm', policy: 'max-unhealthy', message: 'storm' }];
    expect(play(model, 600)).toEqual([]);
    expect(model.status.hold?.policy).toBe('max-unhealthy');
  });

  it('is a fence of its own kind only for this request: the next incident by a condition is a whole one', () => {
    const model = asked();
    play(model, 60);
    wish(model, {});
    play(model, 600, () => model.fence?.status?.state === 'final');
    model.step();
    model.nowMs += 700_000;
    model.fail();
    model.step();
    model.step();
    expect(model.status).toMatchObject({ state: 'new', incident: 2 });
    expect(model.status.lastStep).toBeUndefined();
  });

  it('does not limit the own failure of a node within its probation', () => {
    const model = asked({ release: 'none' });
    play(model, 60);
    model.fail();
    model.runUntil(() => model.inFlight.size > 0);
    model.finish('succeeded');
    model.next();
    model.step();
    model.live({ ready: 'True', bootID: 'boot-2' });
    play(model, 600, () => model.fence?.status?.state === 'final');
    expect(model.status.lastStep).toBe('isolation');
    model.nowMs += 60_000;
    model.fail();
    expect(model.step().row).toBe('final-probation');
    expect(model.status.lastStep).toBeUndefined();
  });
});

describe('what belongs to a request and stands without one', () => {
  it('is ignored, and told once', () => {
    const model = new Model();
    model.fail();
    model.step();
    wish(model, { lastStep: 'isolation' });
    model.runUntil(() => model.dispatched.at(-1)?.entry.action === 'off' || model.inFlight.size > 0);
    model.finish('succeeded');
    for (let count = 0; count < 5; count += 1) model.step();
    expect(model.events.filter((reason) => reason === 'SpecIgnored')).toHaveLength(1);
    expect(model.status.conditions).toContainEqual(
      expect.objectContaining({ type: 'ConfigurationValid', status: 'False', message: expect.stringContaining('spec.requestedBy') as string }),
    );
    expect(model.status.lastStep).toBeUndefined();
    wish(model, {});
    model.step();
    expect(model.status.conditions).toContainEqual(expect.objectContaining({ type: 'ConfigurationValid', status: 'True' }));
  });
});
