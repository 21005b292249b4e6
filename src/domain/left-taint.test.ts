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
