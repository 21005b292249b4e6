import type { RunSeedOptions } from './run-seed.ts';
import { scenarioOf } from './draws.ts';
import { runSeed } from './run-seed.ts';
import type { SeedResult } from './seed-result.ts';
import { simplificationsOf, simplified } from './simplify.ts';
import type { Simplification } from './simplify.ts';
import type { Scenario } from './scenario.ts';

export interface ShrinkOptions {
  /** Ends the search: what was found by then counts. */
  isEnough: () => boolean;
  program?: RunSeedOptions['program'];
  /** Instead of the one drawn from the seed. */
  scenario?: Scenario;
  /** Left out already. */
  without?: readonly Simplification[];
}

export interface Shrunk {
  /** What can be left out while the same law still breaks. */
  without: readonly Simplification[];
  result: SeedResult;
  runs: number;
}

/**
 * Leaves one thing after the other out of a failing seed, as long as the same law breaks, until nothing more can go. `failed` is what the whole seed
 * showed.
 */
export async function shrink(failed: SeedResult, options: ShrinkOptions): Promise<Shrunk> {
  const drawn = options.scenario ?? scenarioOf(failed.seed);
  const wanted = lawOf(failed.violations[0] ?? '');
  let found: Shrunk = { without: options.without ?? [], result: failed, runs: 0 };
  let hasChanged = true;
  while (hasChanged) {
    hasChanged = false;
    for (const name of simplificationsOf(drawn).filter((candidate) => !found.without.includes(candidate))) {
      if (options.isEnough()) return found;
      const without = [...found.without, name];
      const scenario = simplified(drawn, without);
      const result = await runSeed(failed.seed, { scenario, ...(options.program === undefined ? {} : { program: options.program }) });
      const isSame = result.violations.some((violation) => lawOf(violation) === wanted);
      found = isSame ? { without, result, runs: found.runs + 1 } : { ...found, runs: found.runs + 1 };
      hasChanged ||= isSame;
    }
  }
  return found;
}

/** What tells violations apart: the law, or the words without what differs from seed to seed. */
export function lawOf(violation: string): string {
  const law = /^(?:at [\d.]+ ms: )?(P\d+)\b/.exec(violation)?.[1];
  return (
    law ??
    violation
      .replace(/^at [\d.]+ ms: /, '')
      .replace(/[\d.]+/g, '#')
      .split(' ')
      .slice(0, 4)
      .join(' ')
  );
}
