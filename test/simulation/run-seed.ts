import { fenceName } from '../../src/domain/node-fence.ts';
import type { ControllerProgram } from './controller-program.ts';
import { endOf } from './ending.ts';
import { fenceProgram } from './fence-program.ts';
import { describeThrown, Kernel } from '../../src/testbed/simulation/kernel.ts';
import { judged } from './judgement.ts';
import { judgeRemedies } from './remedies/judge.ts';
import { describeScenario } from './description.ts';
import { scenarioOf } from './draws.ts';
import type { Scenario } from './scenario.ts';
import type { SeedResult } from './seed-result.ts';
import { World } from './world.ts';

export interface RunSeedOptions {
  /** Every trace line, for people. */
  onLine?: (line: string) => void;
  /** Instead of the real controller: a mutant. */
  program?: ControllerProgram;
  /** Instead of the one drawn from the seed. */
  scenario?: Scenario;
}

/** One seed: its scenario, run to the end and judged. */
export async function runSeed(seed: number, options: RunSeedOptions = {}): Promise<SeedResult> {
  const scenario = options.scenario ?? scenarioOf(seed);
  const kernel = new Kernel({ seed, ...(options.onLine === undefined ? {} : { onLine: options.onLine }) });
  const found = {
    violations: [] as string[],
    state: 'unknown',
    releases: 0,
    struck: 0,
    calls: 0,
    takeOvers: 0,
    resets: 0,
    checks: {} as Readonly<Record<string, number>>,
  };
  let removedMs: number | undefined;
  try {
    const world = new World(scenario, kernel, options.program ?? fenceProgram());
    await world.begin();
    await kernel.run({ untilMs: scenario.expected.withinMs, isOver: () => world.isOver() });
    const { violations, checks } = judged(world.trace.events, scenario, world.bounds.texts);
    const remedied = judgeRemedies(world.trace.events, scenario);
    found.violations.push(...(await endOf(world, scenario, kernel.nowMs)), ...violations, ...remedied.violations);
    found.checks = { ...checks, ...remedied.checks };
    found.state = world.fence.of(fenceName(scenario.victim))?.state ?? 'none';
    found.releases = world.releases;
    found.struck = world.struck;
    found.calls = world.calls;
    found.resets = world.resets;
    removedMs = world.disturbances.fenceRemovedMs;
    found.takeOvers = world.trace.takeOvers.count;
  } catch (thrown) {
    found.violations.push(`the world broke: ${describeThrown(thrown)}`);
  }
  return {
    ...found,
    ...(removedMs === undefined ? {} : { fenceRemovedMs: removedMs }),
    seed,
    scenario: describeScenario(scenario),
    violations: [...kernel.failures, ...found.violations],
    hash: kernel.hash(),
    events: kernel.eventCount,
    virtualMs: kernel.nowMs,
  };
}
