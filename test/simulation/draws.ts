import type { DeviceBehaviour } from '../../src/testbed/simulation/devices.ts';
import type { CrashPoint } from '../../src/testbed/simulation/port.ts';
import { SeededRandom } from '../../src/testbed/simulation/seeded-random.ts';
import { CALM_API } from '../../src/testbed/simulation/network.ts';
import type { ApiFaults, Breakage, RangeMs } from '../../src/testbed/simulation/network.ts';
import type { Configuration, Disturbance, NodeFault, Scenario, Who } from './scenario.ts';
import { withMore } from './more-draws.ts';

const FAULT_AT_MS = 18_000;

const FAULTS: Readonly<Record<Exclude<NodeFault, 'sick' | 'none'>, number>> = { panic: 4, hang: 4, partition: 2, flap: 3 };
const DEVICES: Readonly<Record<DeviceBehaviour, number>> = {
  honest: 10,
  slow: 4,
  lies: 3,
  dead: 2,
  'half-dead': 2,
  unknown: 1,
  refuses: 1,
  restores: 2,
};

const ROUGH_API: ApiFaults = {
  ...CALM_API,
  slowShare: 0.03,
  lostRequestShare: 0.01,
  lostAnswerShare: 0.01,
  conflictShare: 0.02,
  tooManyRequestsShare: 0.01,
  serverErrorShare: 0.01,
  watchDropShare: 0.01,
  watchDuplicateShare: 0.02,
  watchLateShare: 0.05,
};

const NODE_NAMES = ['a', 'b', 'c', 'd'] as const;
/** By how much a clock may run fast or slow: one in a hundred. */
export const DRIFT = 0.01;

const CRASHES: Readonly<Record<'0' | '1' | '2' | '3', number>> = { 0: 40, 1: 35, 2: 17, 3: 8 };
const CRASH_TAGS: Readonly<Record<string, number>> = {
  any: 4,
  'api-write': 2,
  'nodefences-write': 6,
  'device-set': 4,
  'device-read': 3,
  'nodes-write': 3,
  'leases-write': 2,
  'api-read': 1,
};
const MOMENTS: Readonly<Record<Exclude<CrashPoint['moment'], 'fence-removed'>, number>> = {
  'before-effect': 4,
  'after-effect': 4,
  stopped: 2,
  suspended: 1,
  terminated: 2,
};
/** Most calls of a kind that one fence makes; a crash point beyond the last call is a crash that does not happen. */
const CRASH_CALLS: Readonly<Record<string, number>> = {
  any: 120,
  'api-write': 60,
  'nodefences-write': 25,
  'device-set': 2,
  'device-read': 14,
  'nodes-write': 4,
  'leases-write': 30,
  'api-read': 30,
};

const DISTURBANCES: Readonly<Record<'0' | '1' | '2' | '3', number>> = { 0: 35, 1: 40, 2: 17, 3: 8 };
type Kind = 'pause' | 'terminate' | 'break' | 'device' | 'clock' | 'stop' | 'edit' | 'delete-fence';
const KINDS: Readonly<Record<Kind, number>> = {
  pause: 6,
  terminate: 4,
  break: 8,
  device: 3,
  clock: 4,
  stop: 4,
  edit: 3,
  'delete-fence': 2,
};
const BREAKAGES: Readonly<Record<Breakage, number>> = { cut: 3, mute: 3, refused: 2, deaf: 2 };
const HOURS_2_MS = 7_200_000;

/** What this seed plays. */
export function scenarioOf(seed: number): Scenario {
  const random = new SeededRandom(seed, 'scenario');
  const nodes = NODE_NAMES.slice(0, 2 + random.below(3));
  const fault: NodeFault = random.weighted(FAULTS);
  const device = random.weighted(DEVICES);
  const isRough = random.chance(0.3);
  const hasDrift = random.chance(0.3);
  const rate = (): number => (hasDrift ? 1 + random.between(-DRIFT, DRIFT) : 1);
  const scenario = {
    seed,
    nodes,
    victim: nodes[0] ?? 'a',
    controllers: random.chance(0.7) ? (2 as const) : (1 as const),
    fault,
    faultAtMs: FAULT_AT_MS + random.between(0, 10_000),
    flaps: fault === 'flap' ? drawFlaps(random) : [],
    healAfterOffMs: fault === 'flap' && random.chance(0.4) ? random.between(0, device === 'slow' ? 25_000 : 1_500) : undefined,
    device,
    deviceEffectMs: (device === 'slow' ? [4_000, 25_000] : [50, 1_500]) as RangeMs,
    crashes: drawCrashes(random),
    restartAfterMs: random.between(500, 20_000),
    disturbances: drawDisturbances(random),
    clockRates: { replicas: [rate(), rate()] as const, kubelets: rate() },
    isMisconfigured: random.chance(0.04),
    api: isRough ? ROUGH_API : CALM_API,
    faultsEndMs: 200_000,
    configuration: drawConfiguration(random, isRough),
  };
  return withMore(scenario);
}

function drawCrashes(random: SeededRandom): CrashPoint[] {
  return Array.from({ length: Number(random.weighted(CRASHES)) }, () => {
    const tag = random.weighted(CRASH_TAGS);
    // The crashes of one seed follow each other closely, so that they meet in one take-over.
    const most = CRASH_CALLS[tag] ?? 1;
    return { tag, nth: 1 + random.below(most), moment: random.weighted(MOMENTS), stopMs: random.between(1_000, 40_000) };
  });
}

function drawFlaps(random: SeededRandom): Scenario['flaps'] {
  const downs = random.pick([1, 1, 2, 3]);
  return Array.from({ length: downs }, (_unused, index) => ({
    downMs: random.between(8_000, downs === 1 ? 150_000 : 80_000),
    upMs: index === downs - 1 ? 0 : random.between(1_000, 60_000),
  }));
}

function drawDisturbances(random: SeededRandom): Disturbance[] {
  return Array.from({ length: Number(random.weighted(DISTURBANCES)) }, () => {
    const what = random.weighted(KINDS);
    return drawDisturbance(random, what, FAULT_AT_MS + random.between(0, 90_000));
  }).flat();
}

/** One disturbance, or several that belong together: both replicas paused, or stopped for an upgrade, one after the other. */
function drawDisturbance(random: SeededRandom, what: Kind, atMs: number): Disturbance[] {
  switch (what) {
    case 'pause': {
      const pause = (who: Who, fromMs: number): Disturbance => ({
        what,
        who,
        kind: random.chance(0.5) ? 'stop' : 'suspend',
        atMs: fromMs,
        durationMs: random.chance(0.5) ? random.between(100, 12_000) : random.between(12_000, 60_000),
      });
      return random.chance(0.3) ? [pause('leader', atMs), pause('leader', atMs + random.between(500, 40_000))] : [pause('leader', atMs)];
    }
    case 'terminate': {
      const isUpgrade = random.chance(0.5);
      const then = { what, atMs: atMs + random.between(100, 30_000), durationMs: 0 } as const;
      return isUpgrade
        ? [
            { what, who: 0, atMs, durationMs: 0 },
            { ...then, who: 1 },
          ]
        : [{ what, who: 'leader', atMs, durationMs: 0 }];
    }
    case 'break':
      return [drawBreak(random, atMs)];
    case 'device':
      return [{ what, how: random.chance(0.5) ? 'cut' : 'mute', atMs, durationMs: random.between(500, 60_000) }];
    case 'clock': {
      const who = random.pick(['controllers', 'leader', 'api-server', 'kubelets'] as const);
      return [{ what, who, byMs: random.between(-HOURS_2_MS, HOURS_2_MS), atMs, durationMs: 0 }];
    }
    case 'edit': {
      const kind = random.pick(['address', 'agent', 'deleted', 'rotated'] as const);
      return [{ what, kind, atMs, durationMs: random.between(0, 60_000) }];
    }
    case 'stop':
      return [{ what, atMs, durationMs: random.between(5_000, 60_000) }];
    case 'delete-fence':
      return [{ what, atMs, durationMs: 0 }];
  }
}

/** The outage of everything lasts at least as long as an API server needs to fail over. */
function drawBreak(random: SeededRandom, atMs: number): Disturbance {
  const who = random.pick(['leader', 'leader', 0, 1, 'controllers', 'everyone'] as const);
  const how = random.weighted(BREAKAGES);
  return { what: 'break', who, how, atMs, durationMs: who === 'everyone' ? random.between(10_000, 60_000) : random.between(500, 60_000) };
}

function drawConfiguration(random: SeededRandom, isRough: boolean): Configuration {
  return {
    isolationDelayMs: random.pick([0, 1_000, 5_000]),
    powerManagementDelayMs: random.pick([0, 2_000, 10_000]),
    // A refused API call counts as a failed run, so that rough water needs the product's own default.
    stepRetries: isRough ? 5 : 1,
    maxRestarts: isRough ? 1 : random.pick([0, 1]),
    readyTimeoutMs: 120_000,
    healthyDelayMs: 20_000,
    probationMs: 60_000,
    powerTimeoutMs: 31_000,
    settleMs: 12_000,
    releaseTimeoutMs: random.pick([30_000, 60_000]),
    release: random.chance(0.7) ? 'out-of-service' : 'delete-pods',
    policies: 'prompt',
  };
}
