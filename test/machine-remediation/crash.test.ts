import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOLD, MARKS } from '../../src/controllers/machine-remediation/names.ts';
import { OFF_REQUESTED } from '../../src/controllers/shared/baremetal-host/reboot.ts';
import { Implications } from '../../src/domain/testing/implications.ts';
import { MINUTE_MS, SECOND_MS, World } from './world.ts';

/** What happens before peace is left to it: how many actions are done before it dies, how much time goes by, who asks or takes back. */
const crash = fc.record({
  actions: fc.nat({ max: 2 }),
  seconds: fc.nat({ max: 120 }),
  word: fc.constantFrom('none', 'none', 'none', 'ask', 'unask', 'trouble', 'well'),
});

const story = fc.record({
  mode: fc.constantFrom('incident' as const, 'incident' as const, 'seed-table' as const),
  canReadBmc: fc.boolean(),
  volumes: fc.nat({ max: 2 }),
  bootMs: fc.integer({ min: 1, max: 10 }).map((minutes) => minutes * MINUTE_MS),
  crashes: fc.array(crash, { maxLength: 25 }),
});

function live(world: World, { actions, seconds, word }: { actions: number; seconds: number; word: string }): void {
  if (word === 'ask') world.ask();
  if (word === 'unask') world.unask();
  if (word === 'trouble') world.operator.bmc = 'silent';
  if (word === 'well') world.operator.bmc = 'well';
  world.step(actions);
  world.pass(seconds * SECOND_MS);
}

describe('a controller that dies between any two of its actions', () => {
  it('leaves no host off and no mark behind, and deletes no Node of a running machine, once it is back', () => {
    const laws = new Implications('in mode incident');
    fc.assert(
      fc.property(story, ({ crashes, ...scene }) => {
        const world = new World(scene);
        for (const each of crashes) live(world, each);
        world.operator.bmc = 'well';
        world.run(60 * MINUTE_MS);
        world.unask();
        world.run(60 * MINUTE_MS);
        expect(world.operator.isOn).toBe(true);
        expect(world.operator.annotations[HOLD]).toBeUndefined();
        expect(world.isOutOfService).toBe(false);
        laws.where('in mode incident', scene.mode === 'incident', () => {
          expect(world.operator.annotations[OFF_REQUESTED]).toBeUndefined();
          expect(MARKS.filter((key) => world.machine?.annotations[key] !== undefined)).toEqual([]);
          expect(world.node?.labels['zone']).toBe('a');
        });
      }),
      { numRuns: 150 },
    );
    expect(laws.neverGiven).toEqual([]);
  });

  it('powers off once for each incident, wherever it dies', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ actions: fc.nat({ max: 1 }), seconds: fc.nat({ max: 60 }) }), { maxLength: 40 }), (crashes) => {
        const world = new World({ asksEveryMs: 30_000, bootMs: 5 * MINUTE_MS, volumes: crashes.length % 3 });
        for (const each of crashes) live(world, { ...each, word: 'none' });
        world.run(30 * MINUTE_MS);
        expect(world.operator).toMatchObject({ offs: 1, ons: 1, isOn: true });
        expect(world.node).toMatchObject({ uid: 'uid-n-2', labels: { zone: 'a' } });
      }),
      { numRuns: 100 },
    );
  });

  it('decides the same when it is asked twice', () => {
    fc.assert(
      fc.property(story, ({ crashes, ...scene }) => {
        const world = new World(scene);
        for (const each of crashes) live(world, each);
        expect(world.decide()).toEqual(world.decide());
      }),
      { numRuns: 100 },
    );
  });
});
