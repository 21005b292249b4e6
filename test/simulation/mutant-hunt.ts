import type { ControllerProgram } from './controller-program.ts';
import { scenarioOf } from './draws.ts';
import { expectedOf } from './expected.ts';
import { fenceProgram } from './fence-program.ts';
import type { Mutant } from './mutants.ts';
import { runSeed } from './run-seed.ts';

const SEEDS_MAX = 60;

export interface Hunt {
  /** The seed and the broken law that showed the defect; `undefined`: it survived. */
  killer: string | undefined;
  /** Of the same law, by the sound core in the same worlds: there must be none. */
  soundViolations: readonly string[];
}

/** Plays worlds in the mutant's scenario until one breaks the law that it must break. */
export async function hunt(mutant: Mutant): Promise<Hunt> {
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const { crowd: _crowd, ...drawn } = scenarioOf(seed);
    const calm = { ...drawn, crashes: [], disturbances: [], isMisconfigured: false, ...mutant.scenario(drawn) };
    const scenario = { ...calm, expected: expectedOf(calm) };
    const seen = async (program: ControllerProgram): Promise<string[]> =>
      (await runSeed(seed, { scenario, program })).violations.filter((violation) => mutant.caughtBy.test(violation));
    const caught = await seen(fenceProgram(mutant));
    const soundViolations = await seen(fenceProgram());
    if (caught[0] !== undefined || soundViolations.length > 0)
      return { killer: caught[0] === undefined ? undefined : `seed ${seed}: ${caught[0]}`, soundViolations };
  }
  return { killer: undefined, soundViolations: [] };
}
