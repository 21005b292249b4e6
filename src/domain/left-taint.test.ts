import { describe, expect, it } from 'vitest';
import { Model, planOf } from './testing/model.ts';

describe('our taint that an earlier restart left', () => {
  /** In the second restart, isolated, the off not due yet. */
  function isolatedAgain(): Model {
    const model = new Model(planOf({ stepRetries: 0, maxRestarts: 1 }));
    model.fail();
    expect([model.next(), model.next()]).toEqual(['run:cordon', 'off:off']);
    expect(model.next()).toBe('release:release');
    model.drained();
    expect(model.next('failed')).toBe('release-end:release-end');
    expect(model.next()).toBe('confirm:cordon');
    model.step();
    expect([model.status.state, model.status.restarts]).toEqual(['running', 1]);
    return model;
  }

  it('is taken back from a node that came back by itself, which is not switched off again', () => {
    const model = isolatedAgain();
    const { length } = model.dispatched;
    for (let beat = 0; beat < 20 && model.fence?.status?.state !== 'final'; beat += 1) {
      model.nowMs += 5_000;
      model.live({ ready: 'True', bootID: 'boot-2' });
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded');
    }
    expect(model.dispatched.slice(length).map(({ entry }) => entry.operation)).toEqual(['release-end', 'run:uncordon']);
    expect([model.status.outcome, model.status.restore]).toEqual(['recovered', undefined]);
  });

  it('is taken back too where the node is on the boot that its device showed off, and nothing is switched off', () => {
    const model = isolatedAgain();
    const { length } = model.dispatched;
    for (let beat = 0; beat < 20; beat += 1) {
      model.nowMs += 5_000;
      model.live({ ready: 'True' });
      model.step();
      if (model.inFlight.size > 0) model.finish('succeeded');
    }
    const operations = model.dispatched.slice(length).map(({ entry }) => entry.operation);
    expect(operations[0]).toBe('release-end');
    expect(operations).not.toContain('off:off');
    expect(model.status.restore?.taints).toBeUndefined();
  });

  it('goes with the next release where the node stays failed', () => {
    const model = isolatedAgain();
    expect([model.next(), model.next(), model.next(), model.next()]).toEqual(['off:off', 'release:release', 'release-end:release-end', 'on:on']);
  });
});

describe('our taint that no record knows of', () => {
  const taintFound = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };

  /** Its next run ends with this. */
  function ends(model: Model, result: 'succeeded' | 'not-sent'): string | undefined {
    model.runUntil(() => model.inFlight.size > 0 || model.fence === undefined);
    const { operation } = model.dispatched.at(-1)?.entry ?? {};
    model.finish(result, result === 'not-sent' ? { taintFound } : {});
    model.step();
    return operation;
  }

  it('is taken back before the on that it kept from being sent', () => {
    const model = new Model(planOf({ release: 'none' }));
    model.fail();
    expect([model.next(), model.next()]).toEqual(['run:cordon', 'off:off']);
    expect(ends(model, 'not-sent')).toBe('on:on');
    expect(model.status.restore?.taints).toEqual([taintFound]);
    expect(ends(model, 'succeeded')).toBe('release-end');
    expect(model.status.restore?.taints).toBeUndefined();
    expect(ends(model, 'succeeded')).toBe('on:on');
  });

  it('is taken back too where the NodeFence is deleted, before what it had switched off is switched on', () => {
    const model = new Model();
    model.fail();
    expect([model.next(), model.next()]).toEqual(['run:cordon', 'off:off']);
    if (model.fence !== undefined) model.fence = { ...model.fence, deleting: true };
    expect(ends(model, 'succeeded')).toBe('run:undo-cordon');
    expect(ends(model, 'not-sent')).toBe('on:off');
    expect(ends(model, 'succeeded')).toBe('release-end');
    expect(ends(model, 'succeeded')).toBe('on:off');
  });
});

describe('while a run is under way that its record does not know', () => {
  it('a NodeFence that was made anew begins nothing, be it to be let go or of no Node', () => {
    for (const more of [{}, { deleting: true }]) {
      const model = new Model();
      model.fail();
      model.fence = { uid: 'fence-2', spec: { node: 'a' }, status: undefined, deleting: false, finalized: true, ...more };
      model.inFlight.add('off-of-the-one-before');
      expect(model.step()).toEqual({ row: 'in-flight', events: [], requeueAtMs: model.nowMs + 1_000 });
      model.inFlight.clear();
      expect(model.step().row).toBe('deleting' in more ? 'deleted-by-hand' : 'begin');
    }
  });

  it('one whose status was taken back to before sends nothing', () => {
    const model = new Model();
    model.fail();
    model.next();
    const before = model.fence;
    model.runUntil(() => model.inFlight.size > 0);
    expect(model.dispatched.at(-1)?.entry.action).toBe('off');
    model.fence = before;
    model.nowMs += 60_000;
    expect([model.step().row, model.dispatched.length]).toEqual(['in-flight', 2]);
  });
});
