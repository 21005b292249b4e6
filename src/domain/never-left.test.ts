import { describe, expect, it } from 'vitest';
import { Model } from './testing/model.ts';

describe('a node that comes back after an off that its device did not let begin', () => {
  /** The device gave no answer, before or after the off was sent; then the node is Ready again. */
  const cameBack = (offSent?: false): Model => {
    const model = new Model();
    model.fail();
    expect(model.next()).toBe('run:cordon');
    expect(model.next('timeout', offSent === undefined ? {} : { offSent })).toBe('off:off');
    model.live({ ready: 'True' });
    for (let beat = 0; beat < 12 && model.inFlight.size === 0; beat += 1) {
      model.nowMs += 5_000;
      model.live();
      model.step();
    }
    return model;
  };

  it('is left alone, and recovers', () => {
    expect(cameBack(false).dispatched.at(-1)?.entry.operation).toBe('run:uncordon');
  });

  it('is carried through where the off may have left', () => {
    expect(cameBack().dispatched.at(-1)?.entry.operation).toBe('off:off');
  });
});
