import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Implications } from '../../src/domain/testing/implications.ts';
import { HOLD, MINUTE_MS, remediation, SECOND_MS, World } from './world.ts';

const crash = fc.record({
  actions: fc.nat({ max: 2 }),
  seconds: fc.nat({ max: 120 }),
  word: fc.constantFrom('none', 'none', 'none', 'none', 'delete', 'owner gone', 'trouble', 'well'),
});

const story = fc.record({
  servesOutOfService: fc.boolean(),
  canReadBmc: fc.boolean(),
  isBroken: fc.integer({ min: 0, max: 3 }).map((dice) => dice === 0),
  bootMs: fc.integer({ min: 1, max: 10 }).map((minutes) => minutes * MINUTE_MS),
  crashes: fc.array(crash, { maxLength: 25 }),
});

function live(world: World, { actions, seconds, word }: { actions: number; seconds: number; word: string }): void {
  if (word === 'delete' && world.remediation?.isDeleting === false) world.delete();
  if (word === 'owner gone') world.machine = 'gone';
  if (word === 'trouble') world.operator.bmc = 'silent';
  if (word === 'well') world.operator.bmc = 'well';
  world.step(actions);
  world.pass(seconds * SECOND_MS);
}

/** The world itself throws when a law is broken: a release while the machine runs, or a tainted node that is started. */
describe('a controller that dies between any two of its actions', () => {
  it('leaves no host off, no taint and no finalizer behind, once it is back', () => {
    const laws = new Implications('a Node is there');
    fc.assert(
      fc.property(story, ({ crashes, ...scene }) => {
        const world = new World({ ...scene, remediation: remediation({}, { strategy: { timeoutSeconds: 300 } }) });
        for (const each of crashes) live(world, each);
        world.operator.bmc = 'well';
        world.run(60 * MINUTE_MS);
        if (world.remediation?.isDeleting === false) world.delete();
        world.run(30 * MINUTE_MS);
        expect(world.remediation).toSatisfy((own: World['remediation']) => own === undefined || own.finalizers.length === 0);
        expect(world.operator.isOn).toBe(true);
        expect(world.operator.annotations[HOLD]).toBeUndefined();
        laws.where('a Node is there', typeof world.node === 'object' && world.node, ({ taints }) => expect(taints).toEqual([]));
      }),
      { numRuns: 150 },
    );
    expect(laws.neverGiven).toEqual([]);
  });

  it('makes no more power cycles than it may: N + 1, wherever it dies', () => {
    fc.assert(
      fc.property(
        fc.boolean(),
        fc.array(fc.record({ actions: fc.nat({ max: 1 }), seconds: fc.nat({ max: 60 }) }), { maxLength: 40 }),
        (taints, crashes) => {
          const own = remediation({}, { strategy: { timeoutSeconds: 300, retryLimit: 2 } });
          const world = new World({ remediation: own, isBroken: true, servesOutOfService: taints });
          for (const each of crashes) live(world, { ...each, word: 'none' });
          world.run(120 * MINUTE_MS);
          expect(world.operator.offs).toBe(3);
          expect(world.own).toMatchObject({ phase: 'Deleting machine', retryCount: 2 });
        },
      ),
      { numRuns: 60 },
    );
  });
});
