import { describe, expect, it } from 'vitest';
import { fenceFactsOf } from './fence-facts.ts';
import type { Evidence, NodeFenceSpec, NodeFenceStatus } from './node-fence.ts';
import { Model, planOf } from './testing/model.ts';

const metadata = { uid: 'fence-1' };
const machine = { apiVersion: 'machine.sapcloud.io/v1alpha1', kind: 'Machine', namespace: 'shoot', name: 'm-1', uid: 'machine-1' };

/** A fence whose off was just proven. */
function proven(): Model {
  const model = new Model(planOf());
  model.fail();
  while (model.next() !== 'off:off');
  model.step();
  return model;
}

function factsOf(status: NodeFenceStatus | undefined, spec: NodeFenceSpec = { node: 'a' }): ReturnType<typeof fenceFactsOf> {
  return fenceFactsOf({ metadata, spec, status });
}

function withEvidence(change: Partial<Evidence>): NodeFenceStatus {
  const { status } = proven();
  return { ...status, evidence: status.evidence.map((item) => ({ ...item, ...change })) };
}

describe('what others read of a NodeFence', () => {
  it('one that has not begun is open, and proves nothing', () => {
    expect(factsOf(undefined)).toEqual({ uid: 'fence-1', isOpen: true, isIsolated: false, isOff: false });
  });

  it('a proven off is an off, and nothing writes', () => {
    expect(factsOf(proven().status)).toMatchObject({ isOpen: true, isIsolated: true, isOff: true });
  });

  it('an off that was only sent proves nothing', () => {
    const model = new Model(planOf());
    model.fail();
    model.runUntil(() => model.inFlight.size > 0);
    expect(factsOf(model.status)).toMatchObject({ isIsolated: false, isOff: false });
  });

  it('what a sign of life has voided proves nothing', () => {
    expect(factsOf(withEvidence({ voidedAt: '2026-01-01T00:00:00Z' }))).toMatchObject({ isIsolated: false, isOff: false });
  });

  it('a machine that was switched on again is not off', () => {
    const model = proven();
    while (model.next() !== 'on:on');
    expect(factsOf(model.status)).toMatchObject({ isIsolated: false, isOff: false });
  });

  it('storage that was revoked lets single pods go, never all of them', () => {
    expect(factsOf(withEvidence({ kind: 'storage-revoked', storages: ['san'] }))).toMatchObject({ isIsolated: false, isOff: false });
  });

  it('kdump messages prove that nothing writes, and no off', () => {
    const status = withEvidence({ kind: 'kdump', grade: 'inferred' });
    const { frozen } = status;
    if (frozen === undefined) throw new Error('not frozen');
    expect(factsOf({ ...status, frozen: { ...frozen, plan: { ...frozen.plan, minimumEvidence: ['kdump'] } } })).toMatchObject({
      isIsolated: true,
      isOff: false,
    });
  });

  it('evidence of a kind that the plan does not admit proves nothing', () => {
    expect(factsOf(withEvidence({ kind: 'watchdog', grade: 'inferred' }))).toMatchObject({ isIsolated: false, isOff: false });
  });

  it('a final fence is not open, and its off still counts', () => {
    expect(factsOf({ ...proven().status, state: 'final' })).toMatchObject({ isOpen: false, isOff: true });
  });

  it('tells who asked for it', () => {
    expect(factsOf(undefined, { node: 'a', requestedBy: machine, ending: 'off' })).toMatchObject({ requestedByUID: 'machine-1' });
  });
});
