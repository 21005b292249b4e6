import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { persistedConditions, restoredConditions } from './conditions.ts';
import { playConditions, WALL_MS } from './testing/condition-story.ts';
import type { Seen } from './testing/condition-story.ts';
import { aThreshold } from './testing/thresholds.ts';

const PLAIN = aThreshold();
const LATCHED = aThreshold({ isLatched: true });

describe('a new leader', () => {
  it('goes on from what tripped, sees for itself that it stands, and from nothing else', () => {
    const { observed } = playConditions(LATCHED, [
      [0, 'True'],
      [100, 'True'],
    ]);
    const persisted = JSON.parse(JSON.stringify(persistedConditions(observed))) as ReturnType<typeof persistedConditions>;
    expect(persisted).toEqual({ bootID: 'boot-1', tripped: [{ threshold: LATCHED.id, bootID: 'boot-1', sinceWallMs: WALL_MS }] });
    expect(
      playConditions(
        LATCHED,
        [
          [200, 'True'],
          [210, 'True'],
        ],
        restoredConditions(persisted),
      ).phases,
    ).toEqual(['pending', 'standing']);
    expect(
      playConditions(
        LATCHED,
        [
          [200, 'False'],
          [399, 'False'],
          [400, 'False'],
        ],
        restoredConditions(persisted),
      ).phases,
    ).toEqual(['clearing', 'clearing', 'absent']);
    expect(playConditions(LATCHED, [[200, { status: 'False', boot: 'boot-2' }]], restoredConditions(persisted)).phases).toEqual(['absent']);
    expect(persistedConditions(playConditions(PLAIN, [[0, 'True']]).observed).tripped).toEqual([]);
  });

  it('never finds that it stands, or that it is over, sooner than the one before it would have', () => {
    const seen = fc.constantFrom<Seen>('True', 'False', 'Unknown', '-', { status: 'True', boot: 'boot-2' }, { status: 'False', boot: 'boot-2' });
    const story = fc.array(fc.tuple(fc.integer({ min: 1, max: 12 }), seen), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(story, fc.nat(20), fc.constantFrom(PLAIN, LATCHED), (gaps, cut, threshold) => {
        let seconds = 0;
        const timed = gaps.map(([gap, one]): [number, Seen] => [(seconds += gap), one]);
        const at = Math.min(cut, timed.length);
        const before = playConditions(threshold, timed.slice(0, at));
        const whole = playConditions(threshold, timed).phases;
        const restored = at === 0 ? undefined : restoredConditions(persistedConditions(before.observed));
        const after = playConditions(threshold, timed.slice(at), restored).phases;
        const sooner = after.filter((phase, index) => phase === 'standing' && whole[at + index] !== 'standing');
        expect(sooner).toEqual([]);
      }),
    );
  });

  it('stands for nothing that did not match for a whole period in one boot', () => {
    const seen = fc.constantFrom<Seen>('True', 'False', 'Unknown', '-', { status: 'True', boot: 'boot-2' });
    const runs = fc.array(fc.tuple(seen, fc.integer({ min: 1, max: 14 })), { minLength: 1, maxLength: 8 });
    let stood = 0;
    fc.assert(
      fc.property(runs, (lengths) => {
        const statuses = lengths.flatMap(([one, length]) => Array<Seen>(length).fill(one));
        const { phases } = playConditions(
          PLAIN,
          statuses.map((one, index): [number, Seen] => [index, one]),
        );
        const standing = phases.flatMap((phase, index) => (phase === 'standing' ? [index] : []));
        stood += standing.length;
        const windows = standing.map((index) => statuses.slice(Math.max(0, index - 10), index + 1).map((one) => JSON.stringify(one)));
        expect(windows.filter((window) => window.length !== 11 || new Set(window).size !== 1)).toEqual([]);
      }),
    );
    expect(stood).toBeGreaterThan(0);
  });
});
