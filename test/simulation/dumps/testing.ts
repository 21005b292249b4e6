import { CALM_API } from '../../../src/testbed/simulation/network.ts';
import { scenarioOf } from '../draws.ts';
import { expectedOf } from '../expected.ts';
import { runSeed } from '../run-seed.ts';
import type { RunSeedOptions } from '../run-seed.ts';
import type { Scenario } from '../scenario.ts';
import type { SeedResult } from '../seed-result.ts';
import type { Dumps } from './dumps.ts';

export const FAULT_AT_MS = 20_000;

/** A kernel that dumps for two minutes, and two replicas that hear every message. */
export const DUMPING: Dumps = {
  settings: { startMs: 30_000, finishedMs: 30_000, maxMs: 240_000, isArmed: false },
  kernel: 'stops',
  ...{ bootMs: 10_000, everyMs: 5_000, lastsMs: 120_000, reboots: false },
  datagrams: { latencyMs: [0.2, 2], lostShare: 0, doubledShare: 0, lateShare: 0, lateMs: [0, 0] },
  deeds: [],
};

/** Node a panics and nothing else happens, but for what is given. `dumps: undefined`: nobody hears anything. */
export function quiet(dumps: Partial<Dumps> | undefined, changes: Partial<Scenario> = {}, seed = 1): Scenario {
  const drawn = scenarioOf(seed);
  const { feed: _feed, hosts: _hosts, dumps: _dumps, ...bare } = drawn;
  const scenario: Scenario = {
    ...bare,
    ...{ nodes: ['a', 'b', 'c'], victim: 'a', fault: 'panic', faultAtMs: FAULT_AT_MS, flaps: [], healAfterOffMs: undefined, device: 'honest' },
    ...{ deviceEffectMs: [50, 1_500], crashes: [], disturbances: [], api: CALM_API, controllers: 2, isMisconfigured: false },
    clockRates: { replicas: [1, 1], kubelets: 1 },
    configuration: { ...drawn.configuration, policies: 'off', isolationDelayMs: 0, powerManagementDelayMs: 2_000, stepRetries: 1 },
    ...(dumps !== undefined && { dumps: { ...DUMPING, ...dumps } }),
    ...changes,
  };
  return { ...scenario, expected: expectedOf(scenario) };
}

export interface Played extends SeedResult {
  lines: readonly string[];
  /** From the panic to the first off that its BMC took; NaN: there was none. */
  offMs: number;
}

export async function played(scenario: Scenario, options: Pick<RunSeedOptions, 'program'> = {}): Promise<Played> {
  const lines: string[] = [];
  const result = await runSeed(scenario.seed, { ...options, scenario, onLine: (line) => void lines.push(line) });
  return { ...result, lines, offMs: timeOf(lines, 'device bmc-a set off -> 204') - FAULT_AT_MS };
}

/** Of the first line that has these words; NaN: there is none. */
export function timeOf(lines: readonly string[], words: string): number {
  return Number(
    lines
      .find((line) => line.includes(words))
      ?.trim()
      .split(' ')[0] ?? Number.NaN,
  );
}
