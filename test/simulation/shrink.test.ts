import { describe, expect, it } from 'vitest';
import { scenarioOf } from './draws.ts';
import { fenceProgram } from './fence-program.ts';
import { MUTANTS } from './mutants.ts';
import { runSeed } from './run-seed.ts';
import { lawOf, shrink } from './shrink.ts';
import { simplified } from './simplify.ts';

const TIMEOUT_MS = 120_000;
const RUNS_MAX = 60;
/** One that shows in every world in which a machine is switched off. */
const MUTANT = 'released without evidence';

describe('a failing seed', () => {
  it(
    'is shrunk to what still breaks the same law, and replays from the names of what was left out',
    async () => {
      const program = fenceProgram(MUTANTS.find(({ name }) => name === MUTANT));
      const seed = Array.from({ length: 500 }, (_unused, index) => index + 1).find((candidate) => {
        const { crashes, disturbances, fault } = scenarioOf(candidate);
        return crashes.length > 0 && disturbances.length > 1 && fault === 'hang';
      });
      const failed = await runSeed(seed ?? 0, { program });
      expect(failed.violations.map(lawOf)).toContain('P1');
      let runs = 0;
      const shrunk = await shrink(
        { ...failed, violations: failed.violations.filter((violation) => lawOf(violation) === 'P1') },
        { program, isEnough: () => ++runs > RUNS_MAX },
      );
      const least = simplified(scenarioOf(failed.seed), shrunk.without);
      expect([least.crashes, least.disturbances, least.controllers]).toEqual([[], [], 1]);
      const again = await runSeed(failed.seed, { program, scenario: least });
      expect(again.hash).toBe(shrunk.result.hash);
      expect(again.violations.map(lawOf)).toContain('P1');
    },
    TIMEOUT_MS,
  );

  it('is told apart by its law, or by its words without their numbers', () => {
    expect(lawOf('P3 at 12345.6: a was switched on')).toBe('P3');
    expect(lawOf('at 118 ms: P5: nodefence-0-1 set bmc-a off while nobody held the Lease')).toBe('P5');
    expect(lawOf('after 1500 s of virtual time the fence has not ended')).toBe(lawOf('after 3000 s of virtual time the fence has not ended'));
    expect(lawOf('the workload was never released')).not.toBe(lawOf('node a is still cordoned'));
  });
});
