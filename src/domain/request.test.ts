import { describe, expect, it } from 'vitest';
import { withRequest } from './request.ts';
import { Model, planOf } from './testing/model.ts';
import type { NodeFenceSpec, NodeFenceStatus } from './node-fence.ts';
import type { Plan } from './plan.ts';

type Request = NonNullable<NodeFenceSpec['requestedBy']>;

function requestOf(uid: string, kind = 'NodeFenceRemediation'): Request {
  return { apiVersion: 'ha.k8s.io/v1', kind, namespace: 'apps', name: 'a', uid };
}

/** A Ready node, beating, and a NodeFence that asks for it. */
function asked(plan?: Plan, request = requestOf('request-1')): Model {
  const model = new Model(plan);
  model.fence = { uid: 'fence-1', spec: { node: 'a', requestedBy: request }, status: undefined, deleting: false, finalized: true };
  return model;
}

function beat(model: Model, seconds = 10): void {
  model.nowMs += seconds * 1_000;
  model.live({ ready: 'True' });
}

/** To the first off, the node being alive all the while. */
function toOff(model: Model): void {
  for (let pass = 0; pass < 100; pass += 1) {
    model.step();
    if (model.inFlight.size > 0) {
      if (model.dispatched.at(-1)?.entry.action === 'off') return;
      model.finish('succeeded');
    } else beat(model);
  }
  throw new Error(`no off; rows ${model.rows.slice(-5).join(' ')}`);
}

/** The machine is proven off and the control plane has noticed. */
function offAndNoticed(model: Model): void {
  toOff(model);
  model.nowMs += 5_000;
  model.finish('succeeded');
  model.step();
  if (model.node !== undefined) model.node = { ...model.node, ready: 'Unknown' };
}

describe('a fence that was asked for', () => {
  it('is carried out although the node is Ready, own off first, and says who asked', () => {
    const model = asked();
    model.step();
    expect(model.status.trigger).toMatchObject({ kind: 'remediation', requestUID: 'request-1', status: 'True' });
    expect(model.status.message).toContain('Asked for by NodeFenceRemediation apps/a');
    toOff(model);
    expect(model.dispatched.map(({ entry }) => entry.operation)).toEqual(['run:cordon', 'off:off']);
    expect(model.rows).not.toContain('new-untouched');
  });

  it('counts isolation_delay from our own first sight of the request', () => {
    const model = asked();
    model.step();
    model.step();
    expect(model.rows.at(-1)).toBe('new-delay');
    expect(model.step().requeueAtMs).toBe(model.nowMs + 5_000);
  });

  it('releases only when Kubernetes no longer counts the node as Ready, after the device was read again', () => {
    const model = asked();
    toOff(model);
    model.finish('succeeded');
    const decision = model.step();
    expect([decision.dispatch, decision.requeueAtMs], 'only a change of the Node can bring it on').toEqual([undefined, undefined]);
    expect(model.events).not.toContain('AliveAfterPowerOff');
    model.nowMs += 40_000;
    if (model.node !== undefined) model.node = { ...model.node, ready: 'Unknown' };
    expect(model.next()).toBe('confirm:off');
    expect(model.next()).toBe('release:release');
  });

  it('ends as recovered only on a new boot', () => {
    const model = asked(planOf({ release: 'none' }));
    offAndNoticed(model);
    expect(model.next()).toBe('on:on');
    model.runUntil(() => model.status.state === 'done');
    for (let count = 0; count < 5; count += 1) {
      beat(model);
      expect(model.step().row).toBe('done-wait');
    }
    model.live({ ready: 'True', bootID: 'boot-2' });
    for (let count = 0; count < 5 && !model.rows.includes('done-healthy'); count += 1) {
      beat(model);
      model.step();
    }
    model.finish('succeeded');
    model.runUntil(() => model.status.state === 'final');
    expect(model.status.outcome).toBe('recovered');
  });

  it('is fenced also when the node boots anew by itself before our off', () => {
    const model = asked();
    model.step();
    model.live({ ready: 'True', bootID: 'boot-2' });
    toOff(model);
    expect(model.dispatched.at(-1)?.entry.bootID).toBe('boot-2');
  });

  it("is served by a person's word that the machine is down: healthy on a new boot it recovers by itself", () => {
    const model = asked();
    toOff(model);
    model.finish('unreachable');
    model.step();
    if (model.node !== undefined) model.node = { ...model.node, ready: 'Unknown', lifeAtMs: model.nowMs - 60_000 };
    model.acknowledgement = { name: 'word', uid: 'word-1' };
    const evidence = { kind: 'ack' as const, grade: 'person' as const, detail: 'word', observedAt: '2026-01-01T00:00:00Z', bootID: 'boot-1' };
    expect(model.next('succeeded', { evidence, evidenceAtMs: model.nowMs })).toBe('acknowledge:word');
    model.acknowledgement = undefined;
    model.proofs.set(model.dispatched.at(-1)?.entry.id ?? '', model.nowMs);
    expect(model.next()).toBe('release:release');
    model.workload = { pods: 0, terminating: 0, volumeAttachments: 0 };
    expect(model.next()).toBe('release-end:release-end');
    model.step();
    model.live({ bootID: 'boot-2' });
    for (let pass = 0; pass < 30 && model.fence?.status?.state !== 'final'; pass += 1) {
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded');
      else beat(model);
    }
    expect(model.status).toMatchObject({ state: 'final', outcome: 'recovered' });
  });

  it('is over when its steps are through where the plan switches nothing off', () => {
    const model = asked(planOf({ powerManagement: [] }));
    for (let count = 0; count < 120 && !model.rows.includes('done-healthy'); count += 1) {
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded');
      else beat(model);
    }
    expect(model.rows).toContain('done-healthy');
  });

  it('is taken up once: the same request does not begin another incident, a new one does', () => {
    const model = asked(planOf({ powerManagement: [], isolation: [], recovery: [] }));
    for (let count = 0; count < 120 && model.fence?.status?.state !== 'final'; count += 1) {
      model.step();
      beat(model);
    }
    expect([model.status.state, model.status.incident]).toEqual(['final', 1]);
    expect(model.step().row).toBe('final-wait');
    if (model.fence !== undefined) model.fence = { ...model.fence, spec: { node: 'a', requestedBy: requestOf('request-2') } };
    expect(model.step().row).toBe('final-again');
    expect(model.status).toMatchObject({ state: 'new', incident: 2, trigger: { kind: 'remediation', requestUID: 'request-2' } });
    expect(model.status.history).toHaveLength(1);
  });

  it('does not take a served request up again when the node fails by itself later', () => {
    const model = asked(planOf({ powerManagement: [], isolation: [], recovery: [] }));
    for (let count = 0; count < 120 && model.fence?.status?.state !== 'final'; count += 1) {
      model.step();
      beat(model);
    }
    model.step();
    model.nowMs += 700_000;
    model.fail();
    expect(model.step().row).toBe('final-again');
    model.step();
    expect(model.status.trigger).toMatchObject({ kind: 'node-condition', requestUID: 'request-1' });
  });

  it('is shortcut by Ready again when the request is withdrawn before anything was done', () => {
    const model = asked();
    model.holds = [{ reason: 'storm', policy: 'rate', message: 'wait' }];
    model.step();
    model.step();
    if (model.fence !== undefined) model.fence = { ...model.fence, spec: { node: 'a' } };
    for (let count = 0; count < 5; count += 1) {
      beat(model);
      model.step();
    }
    expect(model.status).toMatchObject({ state: 'final', outcome: 'untouched', trigger: { kind: 'node-condition' } });
  });

  it('lets nothing go where that is asked for', () => {
    const model = asked(planOf({ release: 'out-of-service' }));
    if (model.fence !== undefined) model.fence = { ...model.fence, spec: { ...model.fence.spec, release: 'none' } };
    offAndNoticed(model);
    model.runUntil(() => model.dispatched.at(-1)?.entry.action === 'on');
    expect(model.dispatched.map(({ entry }) => entry.action)).not.toContain('release');
  });

  it('takes up a request that comes in the middle of an incident of its own', () => {
    const model = new Model();
    model.fail();
    model.runUntil(() => model.inFlight.size > 0);
    if (model.fence !== undefined) model.fence = { ...model.fence, spec: { node: 'a', requestedBy: requestOf('late', 'Person') } };
    model.finish('succeeded');
    model.step();
    expect(model.status.trigger).toMatchObject({ kind: 'person', requestUID: 'late' });
    toOff(model);
  });

  it.each<[string, boolean, NodeFenceSpec['ending'], 'off' | 'deleted', NodeFenceStatus['ending']]>([
    ['comes back when its request is withdrawn with its ending', true, undefined, 'off', undefined],
    ['stays off when a hand only deletes its fence', true, 'off', 'off', 'off'],
    ['stays off when its ending is only taken back', false, undefined, 'off', 'off'],
    ['stays off for good when the machine is being deleted', true, undefined, 'deleted', 'deleted'],
  ])('that has ended in off %s', (_words, deleting, asks, had, ending) => {
    const model = asked();
    model.step();
    const before: NodeFenceStatus = { ...model.status, state: 'final', ending: had };
    const spec = { node: 'a', requestedBy: requestOf('request-1'), ...(asks !== undefined && { ending: asks }) };
    expect(withRequest(before, { spec, deleting }, { wall: model.status.trigger?.since ?? '' }).ending).toBe(ending);
  });

  it('respects a stop and holds like every other', () => {
    const model = asked();
    model.stop = { by: 'NodeFenceStop x', reason: 'wait' };
    model.step();
    expect(model.step().row).toBe('stopped');
    model.stop = undefined;
    model.holds = [{ reason: 'storm', policy: 'max-unhealthy', message: 'storm' }];
    model.nowMs += 60_000;
    expect(model.step().row).toBe('new-held');
    expect(model.dispatched).toEqual([]);
  });
});
