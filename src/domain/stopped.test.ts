import { describe, expect, it } from 'vitest';
import { Model } from './testing/model.ts';

const STOP = { by: 'ann', reason: 'switch replacement' };

/** A fence that a person stops while it isolates. */
function stopped(): Model {
  const model = new Model();
  model.fail();
  model.next();
  model.events = [];
  model.stop = STOP;
  model.step();
  return model;
}

describe('a stop', () => {
  it('says who stopped it and why, once', () => {
    const model = stopped();
    const told = model.status.hold;
    expect(told).toMatchObject({ policy: 'stop', reason: 'stopped', message: 'Stopped by ann: switch replacement' });
    expect(model.events).toEqual(['FencingStopped']);
    model.nowMs += 60_000;
    model.step();
    expect(model.events).toEqual(['FencingStopped']);
    expect(model.status.hold?.since).toBe(told?.since);
  });

  it('begins nothing while it stands, and is told again when it is put anew', () => {
    const model = stopped();
    const dispatched = model.dispatched.length;
    model.nowMs += 3_600_000;
    for (let pass = 0; pass < 5; pass += 1) model.step();
    expect(model.dispatched).toHaveLength(dispatched);
    model.stop = undefined;
    model.next();
    expect(model.dispatched.length).toBeGreaterThan(dispatched);
    model.stop = STOP;
    model.step();
    expect(model.events.filter((reason) => reason === 'FencingStopped')).toHaveLength(2);
  });

  it('leaves in sight what a person must do about a fence in error', () => {
    const model = new Model();
    model.fail();
    for (let passes = 0; model.fence?.status?.state !== 'error'; passes += 1) {
      expect(passes).toBeLessThan(200);
      const { requeueAtMs = model.nowMs } = model.step();
      if (model.inFlight.size > 0) model.finish('failed');
      model.nowMs = Math.max(model.nowMs, requeueAtMs);
    }
    const { message } = model.status;
    model.stop = STOP;
    model.step();
    expect(model.status).toMatchObject({ state: 'error', message, hold: { policy: 'stop' } });
  });
});
