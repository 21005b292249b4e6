import { describe, expect, it } from 'vitest';
import { lawfulSeeds } from '../lawful-seeds.ts';
import { scenarioWith } from '../secondary-controllers/draws.ts';
import { WAYS_SHARE, withWays } from './draws.ts';

const TIMEOUT_MS = 240_000;
const FIRST = 21;
const SEEDS = 6;

describe('a world with other ways than a BMC', { timeout: TIMEOUT_MS }, () => {
  it(`breaks no law in ${SEEDS} seeds, and P4 has something to say in most`, async () => {
    const { failed, judged } = await lawfulSeeds('ways', { first: FIRST, seeds: SEEDS, law: 'P4' });
    expect(failed).toEqual([]);
    expect(judged).toBeGreaterThan(SEEDS / 2);
  });

  it('is played by a share of the seeds, and every other seed plays what it played before', () => {
    const seeds = Array.from({ length: 600 }, (_, index) => index + 1);
    const played = seeds.filter((seed) => scenarioWith(seed, 'all').ways !== undefined);
    expect(played.length / seeds.length).toBeGreaterThan(WAYS_SHARE / 2);
    expect(played.length / seeds.length).toBeLessThan(WAYS_SHARE * 1.5);
    const others = seeds.map((seed) => scenarioWith(seed, 'all')).filter(({ ways, dumps }) => ways === undefined && dumps === undefined);
    expect(others.map((scenario) => withWays(scenario, WAYS_SHARE))).toEqual(others);
  });

  it.each(['sick', 'storage', 'program', 'podsPerMinute', 'areUnnamed'] as const)('has seeds with %s, and seeds without', (what) => {
    const drawn = Array.from({ length: 100 }, (_, index) => scenarioWith(index + 1, 'ways'));
    const having = drawn.filter(({ fault, ways }) => (what === 'sick' ? fault === 'sick' : ways?.[what] !== undefined));
    expect(having.length).toBeGreaterThan(20);
    expect(having.length).toBeLessThan(80);
  });
});
