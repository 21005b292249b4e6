import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aThreshold } from './testing/thresholds.ts';
import { RemedyWorld } from './testing/world.ts';
import type { Turn } from './testing/world.ts';

const DEADLOCK = aThreshold();
const DISK = aThreshold({ id: 'DiskPressure=True', conditionType: 'DiskPressure' });

/** Every so many seconds a turn, until so many have gone. */
function during(seconds: number, turn: Omit<Turn, 'seconds'>, every = 5): Turn[] {
  return Array.from({ length: seconds / every }, () => ({ seconds: every, ...turn }));
}

function begun(turns: readonly Turn[], thresholds = [DEADLOCK]): string[] {
  const world = new RemedyWorld(thresholds);
  for (const turn of turns) world.play(turn);
  expect(world.faults).toEqual([]);
  return world.begun;
}

describe('remedies', () => {
  it('escalate, are capped, and are undone when the condition is over', () => {
    const sick = during(3600, { statuses: ['True'], ends: 'succeeded' });
    expect(begun(sick)).toEqual(['first', 'second', 'first', 'second']);
    expect(begun([...sick, ...during(60, { statuses: ['False'], ends: 'succeeded' })])).toEqual(['first', 'second', 'first', 'second', 'recovery']);
  });

  it('begin nothing for what does not stand for its period', () => {
    expect(begun([...during(10, { statuses: ['True'] }), ...during(60, { statuses: ['False'] }), ...during(60, { statuses: ['Unknown'] })])).toEqual(
      [],
    );
  });

  it('begin one at a time on one node', () => {
    expect(begun(during(40, { statuses: ['True', 'True'] }), [DEADLOCK, DISK])).toEqual(['first']);
  });

  it('go on where they were when a leader ends at any time, once each', () => {
    const sick: Turn[] = during(180, { statuses: ['True'], ends: 'failed' });
    const crashes = ['before-write', 'before-act', 'after'] as const;
    const played = sick.flatMap((_turn, index) => crashes.map((crash) => begun(sick.map((turn, at) => (at === index ? { ...turn, crash } : turn)))));
    expect(new Set(played.map((names) => names.join(' ')))).toEqual(new Set(['first second']));
  });

  it('begin nothing while held, twice, beside another one, under a fence, or before it is written', () => {
    const status = fc.constantFrom('True', 'True', 'True', 'False', 'Unknown');
    const turn = fc.record<Turn>({
      seconds: fc.constantFrom(1, 11, 11, 61, 601),
      statuses: fc.tuple(status, status),
      hold: fc.constantFrom(undefined, undefined, undefined, 'storm', 'stop'),
      fence: fc.constantFrom(false, false, false, false, true),
      reboot: fc.constantFrom(false, false, false, false, true),
      crash: fc.constantFrom(undefined, undefined, 'before-write', 'before-act', 'after'),
      ends: fc.constantFrom(undefined, undefined, 'succeeded', 'failed', 'deleted'),
      isBlind: fc.constantFrom(false, false, false, true),
    });
    // Long enough for something to happen: each turn is seen several times.
    const turns = fc.array(fc.tuple(turn, fc.integer({ min: 1, max: 6 })), { minLength: 5, maxLength: 40 });
    const thresholds = [
      aThreshold({ isLatched: true }),
      aThreshold({ ...DISK, remedies: DISK.remedies.map((use) => ({ ...use, cleansResources: true })) }),
    ];
    const [phases, runs] = [new Set<string>(), new Set<string>()];
    fc.assert(
      fc.property(turns, (story) => {
        const world = new RemedyWorld(thresholds);
        for (const [one, times] of story)
          for (let time = 0; time < times; time += 1) world.play({ ...one, reboot: one.reboot === true && time === 0 });
        for (const phase of world.phases) phases.add(phase);
        for (const run of world.begun) runs.add(run);
        expect(world.faults).toEqual([]);
      }),
      { numRuns: 400, seed: 21 },
    );
    expect([phases.size, runs]).toEqual([8, new Set(['first', 'second', 'recovery'])]);
  });
});
