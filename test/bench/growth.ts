// What a simulated world costs as it grows: one node of it dies, everything else is calm.
import { CALM_API } from '../../src/testbed/simulation/network.ts';
import { scenarioOf } from '../simulation/draws.ts';
import { expectedOf } from '../simulation/expected.ts';
import { runSeed } from '../simulation/run-seed.ts';
import type { Scenario } from '../simulation/scenario.ts';
import { rounded } from './figures.ts';

const NODES = [10, 50, 200];
/** What is compiled by then is not measured. */
const WARM_UP_NODES = 20;

export interface WorldCost {
  nodes: number;
  virtualSeconds: number;
  cpuMs: number;
  /** Of a node in a second of the world's time. */
  cpuUsPerNodeSecond: number;
}

function calm(count: number): Scenario {
  const { seed, clockRates, restartAfterMs, faultAtMs, faultsEndMs, configuration } = scenarioOf(1);
  const nodes = Array.from({ length: count }, (_unused, index) => `n${String(index).padStart(4, '0')}`);
  const world = {
    ...{ seed, clockRates, restartAfterMs, faultAtMs, faultsEndMs, nodes, victim: 'n0000' },
    ...{ controllers: 1 as const, fault: 'panic' as const, flaps: [], healAfterOffMs: undefined, crashes: [], disturbances: [] },
    ...{ device: 'honest' as const, deviceEffectMs: [50, 1_500] as const, isMisconfigured: false, api: CALM_API },
    configuration: { ...configuration, policies: 'off' as const },
  };
  return { ...world, expected: expectedOf(world) };
}

async function costOf(nodes: number): Promise<WorldCost> {
  const before = process.cpuUsage();
  const { violations, state, virtualMs } = await runSeed(1, { scenario: calm(nodes) });
  const { user, system } = process.cpuUsage(before);
  if (violations.length > 0 || state !== 'final') throw new Error(`a world of ${nodes} nodes ended as ${state}: ${violations.join('; ')}`);
  const [cpuMs, virtualSeconds] = [(user + system) / 1_000, virtualMs / 1_000];
  return {
    nodes,
    virtualSeconds: rounded(virtualSeconds),
    cpuMs: rounded(cpuMs),
    cpuUsPerNodeSecond: rounded((cpuMs * 1_000) / virtualSeconds / nodes),
  };
}

/** Worlds of more and more nodes; linear growth leaves the last figure as it is. */
export async function measureGrowth(): Promise<WorldCost[]> {
  await costOf(WARM_UP_NODES);
  const costs: WorldCost[] = [];
  for (const nodes of NODES) costs.push(await costOf(nodes));
  return costs;
}
