import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { SeedResult } from './seed-result.ts';
import { runInWorkers } from './workers.ts';

/** A quarter of a second of a core each; thousands are played by `npm run -s simulate -- --seeds 1000`. */
const SEEDS = 60;
const LAWS = ['P1', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P8', 'P9', 'P10'];
/** On two quiet cores it takes less than a minute. */
const ALL_TIMEOUT_MS = 900_000;
const PROGRAM = fileURLToPath(new URL('main.ts', import.meta.url));

async function runAll(): Promise<SeedResult[]> {
  const results: SeedResult[] = [];
  await runInWorkers({
    program: PROGRAM,
    argument: '--worker',
    first: 1,
    seeds: SEEDS,
    jobs: availableParallelism(),
    silenceMs: 120_000,
    isPolite: true,
    onResult: (result) => results.push(result),
  });
  return results;
}

describe('the simulation', () => {
  it(
    `finds no violation in ${SEEDS} seeds, which put every law to the test`,
    async () => {
      const results = await runAll();
      const failed = results.filter((result) => result.violations.length > 0);
      expect(failed.map((result) => [result.seed, result.scenario, ...result.violations])).toEqual([]);
      expect(results).toHaveLength(SEEDS);
      for (const law of LAWS) {
        expect([law, results.some((result) => (result.checks[law] ?? 0) > 0)]).toEqual([law, true]);
      }
      const states = new Set(results.map((result) => result.state));
      for (const state of ['final', 'error', 'none']) expect(states).toContain(state);
      expect(results.filter((result) => result.struck > 0).length).toBeGreaterThan(SEEDS / 4);
      expect(results.filter((result) => result.struck > 1).length).toBeGreaterThan(SEEDS / 20);
      expect(results.filter((result) => result.takeOvers > 0).length).toBeGreaterThan(SEEDS / 4);
      expect(results.filter((result) => result.releases > 0).length).toBeGreaterThan(SEEDS / 5);
    },
    ALL_TIMEOUT_MS,
  );
});
