import { scenarioOf } from '../draws.ts';
import { expectedOf } from '../expected.ts';
import { runSeed } from '../run-seed.ts';
import { CALM_API } from '../../../src/testbed/simulation/network.ts';
import type { Scenario } from '../scenario.ts';
import type { SeedResult } from '../seed-result.ts';
import type { Composed, SecondaryControllers } from './secondary-controllers.ts';

export const ALL: Composed = { remediation: true, healthChecks: true, preservation: true };

/** A quiet world in which one node fails, and what is asked of the controllers beside. */
export function quiet(secondaries: SecondaryControllers, changes: Partial<Scenario> = {}): Scenario {
  const drawn = scenarioOf(1);
  const calm: Scenario = {
    ...drawn,
    nodes: ['a', 'b', 'c'],
    fault: 'panic',
    device: 'honest',
    deviceEffectMs: [50, 1_500],
    flaps: [],
    healAfterOffMs: undefined,
    crashes: [],
    disturbances: [],
    isMisconfigured: false,
    api: CALM_API,
    clockRates: { replicas: [1, 1], kubelets: 1 },
    configuration: { ...drawn.configuration, policies: 'off' },
    secondaries,
    ...changes,
  };
  return { ...calm, expected: expectedOf(calm) };
}

/** The world of a scenario, and what its trace says. */
export async function played(scenario: Scenario): Promise<SeedResult & { lines: readonly string[] }> {
  const lines: string[] = [];
  const result = await runSeed(scenario.seed, { scenario, onLine: (line) => lines.push(line) });
  return { ...result, lines };
}
