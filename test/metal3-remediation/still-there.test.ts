import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS, World } from './world.ts';

/** Held off, and then something keeps its Node from a release. */
function heldOff(before: (world: World) => void, scene: ConstructorParameters<typeof World>[0] = {}): World {
  const world = new World(scene);
  for (let second = 0; !world.kinds().includes('PowerOffRequested'); second += 1) {
    if (second > 60) throw new Error('it is not switched off');
    if (world.step(1) === 0) world.pass(SECOND_MS);
  }
  world.pass(MINUTE_MS);
  before(world);
  return world;
}

const storm = (world: World): void => {
  world.holds = [{ reason: 'storm', message: 'too many', isStop: false }];
};

describe('a Node that stays, for nothing let its pods go', () => {
  it.each([
    ['deleted', false],
    ['tainted', true],
  ])('is back when it is heard behind the power-on, and not as soon as its host is on (else %s)', (_what, servesOutOfService) => {
    const world = heldOff(storm, { servesOutOfService });
    let onMs = 0;
    for (let second = 0; second < 3_600 && !world.kinds().includes('RemediationFinished'); second += 1) {
      while (world.step() > 0);
      world.pass(SECOND_MS);
      if (!world.operator.isOn) onMs = world.nowMs;
    }
    expect(world.kinds()).not.toContain('NodeDeleted');
    expect(world.node).toMatchObject({ uid: 'uid-n-1', isReady: true });
    expect(world.nowMs - onMs).toBeGreaterThanOrEqual(world.bootMs);
  });

  it('finishes with a Node that was deleted as soon as that is there', () => {
    const world = heldOff(() => undefined);
    world.run(10 * MINUTE_MS);
    const kinds = world.kinds().filter((kind) => kind !== 'annotate');
    expect(kinds.slice(kinds.indexOf('NodeRestored'))).toEqual(['NodeRestored', 'RemediationFinished']);
    expect(Object.keys(world.own.annotations).filter((key) => key.includes('backup'))).toEqual([]);
  });
});
