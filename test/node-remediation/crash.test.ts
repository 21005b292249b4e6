import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TIMED_OUT } from '../../src/controllers/node-remediation/names.ts';
import { MINUTE_MS, ownerMachine, request, SECOND_MS, World } from './world.ts';
import type { Course } from './world.ts';

const SENT = { sentMs: 10 * SECOND_MS };
const COURSES: Course[] = [
  { ...SENT, offMs: 30 * SECOND_MS, finalMs: 120 * SECOND_MS, outcome: 'recovered' },
  { ...SENT, offMs: 30 * SECOND_MS, finalMs: 60 * SECOND_MS, outcome: 'failed' },
  { ...SENT, offMs: 30 * SECOND_MS, stuckMs: 60 * SECOND_MS },
  SENT,
];

const story = fc.record({
  spec: fc.record({
    strategy: fc.constantFrom('fence', 'fence-and-recover', 'escalate'),
    retryLimit: fc.nat({ max: 2 }),
    onExhaustion: fc.constantFrom('Reuse', 'Retire', 'LeaveOff'),
    timeoutSeconds: fc.constantFrom(120, 600),
  }),
  courses: fc.array(fc.constantFrom(...COURSES), { minLength: 1, maxLength: 3 }),
  crashes: fc.array(
    fc.record({
      actions: fc.nat({ max: 2 }),
      seconds: fc.nat({ max: 90 }),
      word: fc.constantFrom('none', 'none', 'none', 'none', 'delete', 'time out', 'machine gone'),
    }),
    { maxLength: 25 },
  ),
});

function live(world: World, { actions, seconds, word }: { actions: number; seconds: number; word: string }): void {
  if (word === 'delete' && world.request?.isDeleting === false) world.delete();
  if (word === 'time out' && world.request !== undefined) world.annotate(TIMED_OUT);
  if (word === 'machine gone') world.machine = 'gone';
  world.step(actions);
  world.pass(seconds * SECOND_MS);
}

describe('a controller that dies between any two of its actions', () => {
  it('leaves no fence of its own open, no node off and no finalizer behind, once its request is deleted', () => {
    fc.assert(
      fc.property(story, ({ spec, courses, crashes }) => {
        const machine = ownerMachine({ name: 'n', namespace: 'machines' });
        const world = new World({ request: request({}, spec), machine, courses });
        for (const each of crashes) live(world, each);
        world.run(120 * MINUTE_MS);
        expect(world.fences).toBeLessThanOrEqual(spec.retryLimit + 1);
        if (world.request?.isDeleting === false) world.delete();
        world.run(60 * MINUTE_MS);
        expect(world.request).toSatisfy((own: World['request']) => own === undefined || own.finalizers.length === 0);
        expect(world.isOn || world.fence?.outcome === 'failed').toBe(true);
        expect(world.fence?.isFinal ?? true).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('has nothing more to do once it has come to an end', () => {
    fc.assert(
      fc.property(story, ({ spec, courses }) => {
        const world = new World({ request: request({}, spec), courses });
        world.run(180 * MINUTE_MS);
        expect(world.decide().actions).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
