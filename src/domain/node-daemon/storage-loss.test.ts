import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterProbe, isLost, NEVER_PROBED } from './storage-loss.ts';
import type { StorageRun } from './storage-loss.ts';

const TIMES = { timeoutMs: 60_000, gapMaxMs: 70_000 };
type Reach = 'reachable' | 'lost' | 'unknown';
type Probe = [atSeconds: number, reach: Reach];

const after = (probes: readonly Probe[]): StorageRun =>
  probes.reduce((run, [seconds, reach]) => afterProbe(run, reach, seconds * 1_000, TIMES), NEVER_PROBED);
const lostAfter = (...probes: Probe[]): boolean => isLost(after(probes), TIMES);

describe('storage', () => {
  it('is lost when three probes found so over its timeout', () => {
    expect(lostAfter([0, 'reachable'], [30, 'lost'], [60, 'lost'], [90, 'lost'])).toBe(true);
  });

  it.each<[string, Probe[]]>([
    [
      'one probe',
      [
        [0, 'reachable'],
        [900, 'lost'],
      ],
    ],
    [
      'two probes that are far enough apart',
      [
        [0, 'reachable'],
        [30, 'lost'],
        [95, 'lost'],
      ],
    ],
    ['many probes in less than the timeout', [[0, 'reachable'], ...Array.from({ length: 50 }, (_, index): Probe => [30 + index, 'lost'])]],
    [
      'probes with an answer among them',
      [
        [0, 'reachable'],
        [30, 'lost'],
        [60, 'lost'],
        [61, 'reachable'],
        [90, 'lost'],
        [120, 'lost'],
      ],
    ],
    [
      'probes with one among them that could not be started',
      [
        [0, 'reachable'],
        [30, 'lost'],
        [60, 'unknown'],
        [90, 'lost'],
        [120, 'lost'],
      ],
    ],
    [
      'probes that could not be started',
      [
        [0, 'reachable'],
        [30, 'unknown'],
        [60, 'unknown'],
        [90, 'unknown'],
        [120, 'unknown'],
      ],
    ],
    [
      'probes with a gap in which nobody probed',
      [
        [0, 'reachable'],
        [30, 'lost'],
        [60, 'lost'],
        [600, 'lost'],
      ],
    ],
    [
      'probes of a target that never answered this process',
      [
        [0, 'lost'],
        [30, 'lost'],
        [60, 'lost'],
        [90, 'lost'],
      ],
    ],
  ])('is not lost by %s', (_, probes) => {
    expect(lostAfter(...probes)).toBe(false);
  });

  it('is found again by one answer', () => {
    expect(lostAfter([0, 'reachable'], [30, 'lost'], [60, 'lost'], [90, 'lost'], [100, 'reachable'])).toBe(false);
  });

  it('is never lost sooner than its timeout after its last answer', () => {
    const probes = fc.array(fc.tuple(fc.integer({ min: 0, max: 80 }), fc.constantFrom<Reach>('reachable', 'lost', 'unknown')), { maxLength: 30 });
    fc.assert(
      fc.property(probes, (steps) => {
        let atSeconds = 0;
        const told = steps.map(([step, reach]): Probe => [(atSeconds += step), reach]);
        const answered = told.findLast(([, reach]) => reach !== 'lost')?.[0];
        expect(!lostAfter(...told) || atSeconds - (answered ?? Infinity) >= 60).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
