import { describe, expect, it } from 'vitest';
import { fenceFactsOf } from './fence-facts.ts';
import type { NodeFenceSpec, NodeFenceStatus } from './node-fence.ts';
import { isRestored, TAKEN_UP_AS } from './restored.ts';
import { Model, planOf } from './testing/model.ts';

const ASKED: NodeFenceSpec = { node: 'a', requestedBy: { apiVersion: 'v1', kind: 'Person', name: 'anna', uid: 'request-1' } };
const VELERO = { 'velero.io/restore-name': 'of-monday' };

/** As a fence stands whose machine was proven off. */
function proven(fenceUID?: string): NodeFenceStatus {
  const model = new Model(planOf());
  model.fail();
  model.nowMs += 60_000;
  for (let pass = 0; pass < 200 && model.fence?.status?.evidence.length !== 1; pass += 1) {
    model.step();
    model.nowMs += 5_000;
    if (model.inFlight.size > 0) model.finish('succeeded');
  }
  const { fenceUID: _own, ...status } = model.status;
  return { ...status, ...(fenceUID === undefined ? {} : { fenceUID }) };
}

function restored(status: NodeFenceStatus | undefined, spec: NodeFenceSpec = { node: 'a' }): Model {
  const model = new Model(planOf());
  model.fence = { uid: 'fence-2', spec, status: undefined, restored: { status }, deleting: false, finalized: true };
  return model;
}

describe('a NodeFence', () => {
  it('writes which object its status is of', () => {
    const model = new Model(planOf());
    model.fail();
    model.nowMs += 60_000;
    for (let pass = 0; pass < 4; pass += 1) model.step();
    expect(model.status.fenceUID).toBe(model.fence?.uid);
  });

  it.each<[string, boolean, Parameters<typeof isRestored>[0]]>([
    ['its own status', false, { metadata: { uid: 'fence-1' }, spec: ASKED, status: proven('fence-1') }],
    ['the status of another object', true, { metadata: { uid: 'fence-2' }, spec: { node: 'a' }, status: proven('fence-1') }],
    ['a status written before this was recorded', false, { metadata: { uid: 'fence-2' }, spec: { node: 'a' }, status: proven() }],
    [
      'such a status, and the mark of another object',
      true,
      { metadata: { uid: 'fence-2', annotations: { [TAKEN_UP_AS]: 'fence-1' } }, spec: ASKED, status: proven() },
    ],
    ['a request, and no mark yet', false, { metadata: { uid: 'fence-1' }, spec: ASKED }],
    ['a request, and its own mark', false, { metadata: { uid: 'fence-1', annotations: { [TAKEN_UP_AS]: 'fence-1' }, labels: VELERO }, spec: ASKED }],
    ['a request, and the mark of another object', true, { metadata: { uid: 'fence-2', annotations: { [TAKEN_UP_AS]: 'fence-1' } }, spec: ASKED }],
    ['a request that nobody had taken up, restored by Velero', true, { metadata: { uid: 'fence-2', labels: VELERO }, spec: ASKED }],
    ['nothing but its node, restored by Velero', false, { metadata: { uid: 'fence-2', labels: VELERO }, spec: { node: 'a' } }],
  ])('with %s: restored %s', (_what, is, fence) => {
    expect(isRestored(fence)).toBe(is);
  });

  it('that was restored proves nothing, to nobody', () => {
    const status = proven('fence-1');
    expect(fenceFactsOf({ metadata: { uid: 'fence-1' }, spec: { node: 'a' }, status })).toMatchObject({ isOff: true, isIsolated: true });
    expect(fenceFactsOf({ metadata: { uid: 'fence-2' }, spec: { node: 'a' }, status })).toMatchObject({
      isOff: false,
      isIsolated: false,
      isOpen: true,
    });
  });

  it('that was restored is let go, whatever it records, and says what that was', () => {
    const status = {
      ...proven('fence-1'),
      restore: { edges: [{ method: 'off', agent: 'redfish', device: 'bmc', plug: '', state: 'off' as const }] },
    };
    const decision = restored(status, ASKED).step();
    expect(decision).toMatchObject({ row: 'restored', removeFinalizer: true, deleteFence: true });
    expect([decision.dispatch, decision.status, decision.stepDown]).toEqual([undefined, undefined, undefined]);
    expect(decision.events).toMatchObject([{ type: 'Warning', reason: 'RestoredFenceRemoved' }]);
    expect(decision.events[0]?.message).toMatch(/Its request counts no more.*off \(redfish bmc \) is still off/u);
  });

  it('that is restored over one whose run is under way waits for the end of that', () => {
    const model = restored(undefined);
    model.inFlight.add('off-1');
    expect(model.step()).toMatchObject({ row: 'restored', requeueAtMs: model.nowMs + 1_000 });
    model.inFlight.clear();
    expect(model.step()).toMatchObject({ row: 'restored', deleteFence: true });
  });

  it('that is being deleted already only loses its finalizer', () => {
    const model = restored(undefined);
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    const { deleteFence, removeFinalizer } = model.step();
    expect([deleteFence, removeFinalizer]).toEqual([undefined, true]);
  });
});
