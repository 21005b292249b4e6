import type { LawName } from '../../src/laws/law.ts';
import { runSeed } from './run-seed.ts';
import { scenarioWith } from './secondary-controllers/draws.ts';
import type { Cast } from './secondary-controllers/draws.ts';

/** Plays so many seeds of one cast: those that break a law, with what they break; and in how many this law had something to judge. */
export async function lawfulSeeds(
  cast: Cast,
  { first, seeds, law }: { first: number; seeds: number; law: LawName },
): Promise<{ failed: unknown[]; judged: number }> {
  const failed: unknown[] = [];
  let judged = 0;
  for (let seed = first; seed < first + seeds; seed += 1) {
    const { violations, checks, scenario } = await runSeed(seed, { scenario: scenarioWith(seed, cast) });
    if (violations.length > 0) failed.push([seed, scenario, ...violations]);
    judged += (checks[law] ?? 0) > 0 ? 1 : 0;
  }
  return { failed, judged };
}
