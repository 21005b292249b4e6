import { describe, expect, it } from 'vitest';
import { isolated } from './testing/course.ts';
import type { Model } from './testing/model.ts';

/** Its leader went when all of the workload was let go by the taint, and waited for what is left of it. */
function takenOver(): Model {
  const model = isolated({ maxRestarts: 0 });
  expect([model.next(), model.next()]).toEqual(['off:off', 'release:release']);
  model.step();
  model.takeOver();
  model.step();
  return model;
}

describe('a release that a predecessor has begun, and that no read confirms any more', () => {
  it('is void with a sign of life that this leader receives: the taint goes at once, nothing is switched on, and its pods are named', () => {
    const model = takenOver();
    model.nowMs += 1_000;
    model.live();
    expect(model.next()).toBe('release-end:release-end');
    expect(model.events).toContain('EvidenceVoided');
    expect(model.words.find((words) => words.startsWith('Evidence power-off is void'))).toContain('1 pods were released before');
    model.runUntil(() => model.status.state === 'error');
    expect(model.dispatched.map(({ entry }) => entry.action)).not.toContain('on');
  });

  it('goes on to its end where nothing was heard since, and on what stood there when this leader saw the node first', () => {
    for (const isOnlySeen of [false, true]) {
      const model = takenOver();
      model.nowMs += 1_000;
      if (isOnlySeen) model.live({ isOnlySeen });
      model.drained();
      expect([model.next(), model.next()]).toEqual(['release-end:release-end', 'on:on']);
    }
  });
});
