// Beside the seeds and not after them: those take every core, and these one.
import { describe, expect, it } from 'vitest';
import { LEADERSHIP_MUTANTS } from './leadership-mutants.ts';
import { hunt } from './mutant-hunt.ts';
import { MUTANTS } from './mutants.ts';
import { runSeed } from './run-seed.ts';

const TIMEOUT_MS = 240_000;

describe('a seed', () => {
  it(
    'is replayed exactly: the same trace, line by line',
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
