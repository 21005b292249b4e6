import { describe, expect, it } from 'vitest';
import { fenceProgram } from './fence-program.ts';
import { MUTANTS } from './mutants.ts';
import { runSeed } from './run-seed.ts';
import type { SeedResult } from './seed-result.ts';
import { scenarioOf } from './scenario.ts';

const SEEDS = 200;
const MUTANT_SEEDS_MAX = 60;
const TIMEOUT_MS = 120_000;

describe('the simulation', () => {
  it(
    `finds no violation in ${SEEDS} seeds`,
    async () => {
      const failed: SeedResult[] = [];
      for (let seed = 1; seed <= SEEDS; seed++) {
        const result = await runSeed(seed);
        if (result.violations.length > 0) {
          failed.push(result);
        }
      }
      expect(failed.map((result) => [result.seed, result.scenario, ...result.violations])).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'replays a seed exactly: the same trace, line by line',
    async () => {
      for (const seed of [3, 1003, 2003]) {
        const runs = [[], []] as [string[], string[]];
        const hashes: string[] = [];
        for (const lines of runs) {
          hashes.push((await runSeed(seed, { onLine: (line) => lines.push(line) })).hash);
        }
        expect(runs[0].length).toBeGreaterThan(100);
        expect(runs[1]).toEqual(runs[0]);
        expect(hashes[1]).toBe(hashes[0]);
      }
      expect((await runSeed(4)).hash).not.toBe((await runSeed(5)).hash);
    },
    TIMEOUT_MS,
  );
});

describe('the mutants of the core', () => {
  it.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    '%s is caught',
    async (_name, mutant) => {
      const caught: string[] = [];
      for (let seed = 1; seed <= MUTANT_SEEDS_MAX && caught.length === 0; seed++) {
        const drawn = scenarioOf(seed);
        const scenario = { ...drawn, crash: undefined, pause: undefined, ...mutant.scenario(drawn) };
        const result = await runSeed(seed, { scenario, program: fenceProgram(mutant.mutate) });
        caught.push(...result.violations.filter((violation) => mutant.caughtBy.test(violation)));
      }
      expect(caught).not.toEqual([]);
    },
    TIMEOUT_MS,
  );
});
