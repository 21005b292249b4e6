import { describe, expect, it } from 'vitest';
import { CALM_API } from '../../../src/testbed/simulation/network.ts';
import { runSeed } from '../run-seed.ts';
import type { Scenario } from '../scenario.ts';
import type { SeedResult } from '../seed-result.ts';
import { foreseen, withNodeDaemons } from './draws.ts';
import type { MachineTraits } from '../../../src/drill/daemons/simulated/daemon-machine.ts';
import type { DaemonDeed, DaemonTimes } from './node-daemons.ts';

const TIMEOUT_MS = 240_000;
const FAULT_AT_MS = 85_000;
const LONG_MS = 460_000;
const USUAL: DaemonTimes = { grantMs: 5_000, isolationMs: 40_000, podStopMs: 30_000 };
const SHORT: DaemonTimes = { grantMs: 3_000, isolationMs: 35_000, podStopMs: 10_000 };
const LONG: DaemonTimes = { grantMs: 8_000, isolationMs: 60_000, podStopMs: 45_000 };
/** Nothing but its watchdog ends what runs on it, as late as it may. */
const STUBBORN: Partial<MachineTraits> = { podStopMs: 900_000, doesReset: false, watchdogMs: 30_000, watchdogRate: 0.99, isStuckAfterReset: true };

interface Story {
  seed?: number;
  fault?: Scenario['fault'];
  nodes?: number;
  times?: DaemonTimes;
  victim?: Partial<MachineTraits>;
  clockRates?: Scenario['clockRates'];
  deeds?: readonly DaemonDeed[];
}

/** Nothing else happens, and only the watchdog of the failed node can prove its end. */
function played({ seed = 1, fault = 'none', nodes = 3, times = USUAL, victim = {}, clockRates, deeds = [] }: Story): Promise<SeedResult> {
  const names = ['a', 'b', 'c', 'd', 'e', 'f'].slice(0, nodes);
  const quiet: MachineTraits = {
    ...{ watchdogMs: 10_000, watchdogRate: 1, isPausable: false, podStopMs: 1_000 },
    ...{ doesReset: true, isStuckAfterReset: false, syncMs: 10 },
  };
  const machines = Object.fromEntries(names.map((name) => [name, name === 'a' ? { ...quiet, ...victim } : quiet]));
  const { expected: _expected, ...drawn } = withNodeDaemons(seed);
  const scenario = foreseen({
    ...drawn,
    ...{ nodes: names, victim: 'a', fault, faultAtMs: FAULT_AT_MS, device: 'dead', crashes: [], disturbances: [], api: CALM_API, controllers: 2 },
    clockRates: clockRates ?? { replicas: [1, 1], kubelets: 1 },
    configuration: { ...drawn.configuration, policies: 'off', isolationDelayMs: 0, powerManagementDelayMs: 2_000, stepRetries: 1 },
    daemons: {
      ...{ topologyKeys: [], machines, level: 'only', times, deeds, mayGoDown: [], evidence: 'may' },
      datagrams: { latencyMs: [0.2, 2], lostShare: 0, doubledShare: 0, lateShare: 0, lateMs: [0, 0] },
    },
  });
  return runSeed(seed, { scenario });
}

function cut(node: string, places: Extract<DaemonDeed, { what: 'cut' }>['places'], atMs = FAULT_AT_MS, durationMs = LONG_MS): DaemonDeed {
  return { what: 'cut', node, places, way: 'both', atMs, durationMs };
}

function kill(node: string, atMs: number): DaemonDeed {
  return { what: 'kill', node, atMs, durationMs: 1_000 };
}

/** Every one of them breaks no law, and `seen` of it is as it must be. */
async function sound(stories: readonly Story[], seen: (result: SeedResult) => boolean): Promise<void> {
  expect(stories.length).toBeGreaterThan(0);
  for (const story of stories) {
    const result = await played(story);
    expect(result.violations).toEqual([]);
    expect([result.state, result.releases, result.resets, seen(result)]).toEqual([result.state, result.releases, result.resets, true]);
  }
}

const isProven = ({ checks, releases, resets }: SeedResult): boolean => (checks['P11'] ?? 0) > 0 && releases > 0 && resets === 1;

describe('the watchdog of a node', { timeout: TIMEOUT_MS }, () => {
  it('proves its end when everything took as long as it may: clocks, pods, grants until the last moment', async () => {
    const clockRates = { replicas: [1.01, 1.01], kubelets: 0.99 } as const;
    // It is heard and granted to until the last moment, and can write nothing that would begin the wait anew.
    const deeds = [cut('a', ['api-server'])];
    await sound(
      [1, 2].map((seed) => ({ seed, times: LONG, victim: STUBBORN, clockRates, deeds })),
      isProven,
    );
  });

  it('proves nothing where the clock of the node was slewed as chrony slews it by its defaults', async () => {
    const clockRates = { replicas: [1, 1], kubelets: 1 - 1 / 12 } as const;
    const deeds = [cut('a', ['api-server'])];
    await sound([{ times: LONG, victim: STUBBORN, clockRates, deeds }], ({ releases, checks }) => releases === 0 && checks['P11'] === 0);
  });

  it('proves nothing while the machine is only paused', async () => {
    const paused = (kind: 'stop' | 'suspend'): Story => ({
      victim: { isPausable: true },
      deeds: [{ what: 'vm-pause', node: 'a', kind, atMs: FAULT_AT_MS, durationMs: LONG_MS }],
    });
    await sound([paused('stop'), paused('suspend')], ({ releases, checks }) => releases === 0 && checks['P11'] === 0);
  });

  it('proves its end though peers whose daemons were started anew are heard by it', async () => {
    const deeds = [
      cut('a', ['controllers', 'api-server']),
      ...[60_000, 75_000].flatMap((ms) => [kill('b', FAULT_AT_MS + ms), kill('c', FAULT_AT_MS + ms)]),
    ];
    await sound([{ victim: STUBBORN, deeds }], isProven);
  });

  it('proves nothing while peers that cannot be asked keep it up', async () => {
    const deeds = [cut('a', ['controllers', 'api-server']), cut('b', ['controllers']), cut('c', ['controllers'])];
    // When everything is healed it hears that its grants were ended, and boots anew.
    await sound([{ deeds }], ({ checks, releases, resets }) => checks['P11'] === 0 && releases === 0 && resets === 1);
  });

  it('is counted with the times that were attested, whatever somebody wrote since', async () => {
    const stories = [133_000, 140_000, 148_000].map((atMs): Story => ({
      ...{ times: SHORT, victim: STUBBORN },
      deeds: [{ what: 'change-times', times: LONG, atMs: 95_000, durationMs: 0 }, cut('a', ['controllers', 'peers', 'api-server'], atMs)],
    }));
    await sound(stories, isProven);
  });

  it('is counted with the times that were attested by the process before', async () => {
    const deeds: DaemonDeed[] = [
      { what: 'change-times', times: LONG, atMs: 95_000, durationMs: 0 },
      cut('a', ['controllers', 'peers', 'api-server'], 160_000),
      kill('a', 161_000),
    ];
    await sound([{ times: SHORT, victim: STUBBORN, deeds }], isProven);
  });
});

describe('an outage of all controllers and of the API server', { timeout: TIMEOUT_MS }, () => {
  it.each([3, 5])('takes down none of %s nodes', async (nodes) => {
    await sound([{ nodes, deeds: [{ what: 'outage', atMs: FAULT_AT_MS, durationMs: 200_000 }] }], ({ resets }) => resets === 0);
  });
});
