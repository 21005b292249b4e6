import { describe, expect, it } from 'vitest';
import { scenarioOf } from '../draws.ts';
import { runSeed } from '../run-seed.ts';
import { scenarioWith } from '../secondary-controllers/draws.ts';
import { WAYS_SHARE, withWays } from './draws.ts';

const TIMEOUT_MS = 240_000;
const FIRST = 21;
const SEEDS = 6;

describe('a world with other ways than a BMC', { timeout: TIMEOUT_MS }, () => {
  it(`breaks no law in ${SEEDS} seeds, and P4 has something to say in most`, async () => {
    const failed: unknown[] = [];
    let judged = 0;
    for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
      const scenario = scenarioWith(seed, 'ways');
      const { violations, checks, ...result } = await runSeed(seed, { scenario });
      if (violations.length > 0) failed.push([seed, result.scenario, ...violations]);
      judged += (checks['P4'] ?? 0) > 0 ? 1 : 0;
    }
    expect(failed).toEqual([]);
    expect(judged).toBeGreaterThan(SEEDS / 2);
  });

  it('is played by a share of the seeds, and every other seed plays what it played before', () => {
    const seeds = Array.from({ length: 600 }, (_, index) => index + 1);
    const played = seeds.filter((seed) => scenarioWith(seed, 'all').ways !== undefined);
    expect(played.length / seeds.length).toBeGreaterThan(WAYS_SHARE / 2);
    expect(played.length / seeds.length).toBeLessThan(WAYS_SHARE * 1.5);
    const others = seeds.filter((seed) => !played.includes(seed)).map(scenarioOf);
    const isTaken = ({ ways }: { ways?: object }): boolean => ways !== undefined;
    expect(others.filter((scenario) => !isTaken(withWays(scenario, WAYS_SHARE)) && withWays(scenario, WAYS_SHARE) !== scenario)).toEqual([]);
  });

  it.each(['sick', 'storage', 'program', 'podsPerMinute'] as const)('has seeds with %s, and seeds without', (what) => {
    const drawn = Array.from({ length: 100 }, (_, index) => scenarioWith(index + 1, 'ways'));
    const having = drawn.filter(({ fault, ways }) => (what === 'sick' ? fault === 'sick' : ways?.[what] !== undefined));
    expect(having.length).toBeGreaterThan(20);
    expect(having.length).toBeLessThan(80);
  });
});
