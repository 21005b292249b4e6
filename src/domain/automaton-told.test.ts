import { describe, expect, it } from 'vitest';
import { SCALE_DOWN_DISABLED } from './node-fence.ts';
import { Model } from './testing/model.ts';

function failedNode(): Model {
  const model = new Model();
  model.fail();
  return model;
}

describe('the fence automaton, where it can do nothing more,', () => {
  it('does nothing when a newer leader has written, says so and gives up its Lease', () => {
    const model = failedNode();
    model.next();
    model.step();
    model.epoch -= 1;
    const decision = model.step();
    expect(decision).toMatchObject({ row: 'newer-leader', events: [{ type: 'Warning', reason: 'NewerLeaderFound' }] });
    expect(decision.stepDown).toEqual({ epoch: 7, message: expect.stringContaining('under epoch 7, and this controller leads under 6') as string });
    expect(decision.status).toBeUndefined();
    expect(decision.dispatch).toBeUndefined();
  });

  it('takes an epoch that no Lease can count to for a slip of a hand, not for a leader', () => {
    const model = failedNode();
    model.next();
    model.step();
    if (model.fence?.status !== undefined) model.fence = { ...model.fence, status: { ...model.fence.status, epoch: 4_000_000_000 } };
    expect(model.step()).not.toHaveProperty('stepDown');
  });

  it('tells that a finalizer of somebody else keeps a NodeFence that is being deleted, once', () => {
    const model = failedNode();
    model.next();
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true, finalized: false };
    model.step();
    model.finish('succeeded');
    model.runUntil(() => model.events.includes('DeletionBlocked'));
    model.step();
    expect(model.events.filter((reason) => reason === 'DeletionBlocked')).toHaveLength(1);
    expect(model.status.message).toContain('metadata.finalizers');
  });

  it('tells what stays cordoned when --mode observe lets a deleted NodeFence go', () => {
    const model = failedNode();
    model.next();
    model.holds = [{ policy: 'observe', reason: 'observe', message: 'nothing is touched' }];
    if (model.fence !== undefined)
      model.fence = { ...model.fence, deleting: true, status: { ...model.status, state: 'final', restore: { cordoned: true } } };
    const decision = model.step();
    expect(decision).toMatchObject({
      removeFinalizer: true,
      events: [{ reason: 'LeftOff', message: expect.stringContaining('stays cordoned') as string }],
    });
  });

  it('tells that a NodeFence names a Node that is not there', () => {
    const model = new Model();
    model.fence = { uid: 'f', spec: { node: 'typo' }, status: undefined, deleting: false, finalized: true };
    model.node = undefined;
    expect(model.step()).toMatchObject({
      row: 'begin-without-node',
      events: [{ reason: 'NodeGone', message: expect.stringContaining('typo') as string }],
    });
  });
});

describe('the autoscaler', () => {
  it('is told together with the cordon, and that stands in what is to be taken back until the uncordon', () => {
    const model = new Model();
    model.fail();
    model.next();
    expect(model.status.restore?.annotations).toEqual({ [SCALE_DOWN_DISABLED]: 'true' });
  });
});
