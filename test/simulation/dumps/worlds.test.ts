import { describe, expect, it } from 'vitest';
import { scenarioOf } from '../draws.ts';
import { runSeed } from '../run-seed.ts';
import { scenarioWith } from '../secondary-controllers/draws.ts';
import { DUMPS_SHARE, withDumps } from './draws.ts';

const TIMEOUT_MS = 240_000;
const FIRST = 11;
const SEEDS = 6;

describe('a world with crash kernels', { timeout: TIMEOUT_MS }, () => {
  it(`breaks no law in ${SEEDS} seeds, and P6 has something to say in most`, async () => {
    const failed: unknown[] = [];
    let judged = 0;
    for (let seed = FIRST; seed < FIRST + SEEDS; seed += 1) {
      const scenario = scenarioWith(seed, 'dumps');
      const { violations, checks, ...result } = await runSeed(seed, { scenario });
      if (violations.length > 0) failed.push([seed, result.scenario, ...violations]);
      judged += (checks['P6'] ?? 0) > 0 ? 1 : 0;
    }
    expect(failed).toEqual([]);
    expect(judged).toBeGreaterThan(SEEDS / 2);
  });

  it('is played by a share of the seeds, and every other seed plays what it played before', () => {
    const seeds = Array.from({ length: 600 }, (_, index) => index + 1);
    const played = seeds.filter((seed) => scenarioWith(seed, 'all').dumps !== undefined);
    expect(played.length / seeds.length).toBeGreaterThan(DUMPS_SHARE / 2);
    expect(played.length / seeds.length).toBeLessThan(DUMPS_SHARE * 2);
    const others = seeds.filter((seed) => !played.includes(seed)).map(scenarioOf);
    expect(others.map((scenario) => withDumps(scenario, DUMPS_SHARE))).toEqual(others);
  });
});
