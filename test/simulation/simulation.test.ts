import { describe, expect, it } from 'vitest';
import { LEADERSHIP_MUTANTS } from './leadership-mutants.ts';
import { hunt } from './mutant-hunt.ts';
import { MUTANTS } from './mutants.ts';
import { runSeed } from './run-seed.ts';
import type { SeedResult } from './seed-result.ts';

const SEEDS = 200;
const LAWS = ['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8', 'P9', 'P10'];
const TIMEOUT_MS = 240_000;

describe('the simulation', () => {
  it(
    `finds no violation in ${SEEDS} seeds, which put every law to the test`,
    async () => {
      const results: SeedResult[] = [];
      for (let seed = 1; seed <= SEEDS; seed++) {
        results.push(await runSeed(seed));
      }
      const failed = results.filter((result) => result.violations.length > 0);
      expect(failed.map((result) => [result.seed, result.scenario, ...result.violations])).toEqual([]);
      for (const law of LAWS) {
        expect([law, results.some((result) => (result.checks[law] ?? 0) > 0)]).toEqual([law, true]);
      }
      expect(new Set(results.map((result) => result.state))).toEqual(new Set(['final', 'error', 'none']));
      expect(results.filter((result) => result.struck > 0).length).toBeGreaterThan(SEEDS / 4);
      expect(results.filter((result) => result.struck > 1).length).toBeGreaterThan(SEEDS / 20);
      expect(results.filter((result) => result.takeOvers > 0).length).toBeGreaterThan(SEEDS / 4);
      expect(results.filter((result) => result.releases > 0).length).toBeGreaterThan(SEEDS / 5);
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
  it.each([...MUTANTS, ...LEADERSHIP_MUTANTS].map((mutant) => [mutant.name, mutant] as const))(
    '%s is caught, and the sound core is not, in the same scenario',
    async (_name, mutant) => {
      const { killer, soundViolations } = await hunt(mutant);
      expect(soundViolations).toEqual([]);
      expect(killer).toBeDefined();
    },
    TIMEOUT_MS,
  );
});
