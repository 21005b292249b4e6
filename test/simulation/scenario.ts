import { SeededRandom } from './kernel/seeded-random.ts';
import type { CrashPoint } from './kernel/port.ts';
import type { DeviceBehaviour } from './devices.ts';
import { CALM_API } from './network.ts';
import type { ApiFaults, RangeMs } from './network.ts';

/** panic: the kernel stops, the power stays. hang: the kubelet stops, the workload writes on. flap: cut off for a while, then back with the same boot. */
export type NodeFault = 'panic' | 'hang' | 'partition' | 'flap';

/** What one seed plays. Plain data, drawn from the seed alone; chances are weights, so that a later issue adds a fault by adding a row. */
export interface Scenario {
  seed: number;
  /** `a`, `b`, ...; the first one fails. */
  nodes: readonly string[];
  victim: string;
  controllers: 1 | 2;
  fault: NodeFault;
  faultAtMs: number;
  /** How long a flap lasts. */
  flapMs: number;
  device: DeviceBehaviour;
  /** From an accepted set to its effect. */
  deviceEffectMs: RangeMs;
  /** Of the first controller that leads. */
  crash: CrashPoint | undefined;
  /** From a crash to the new process. */
  restartAfterMs: number;
  /** The leading controller stands still (SIGSTOP or a sleeping machine) from a while after the fault on. */
  pause: { kind: 'stop' | 'suspend'; atMs: number; durationMs: number } | undefined;
  /** The controller's wall clock is set anew. */
  wallJump: { atMs: number; byMs: number } | undefined;
  /** A person's NodeFenceStop for every node. */
  stop: { atMs: number; durationMs: number } | undefined;
  /** The Secret that the methods name does not exist. */
  isMisconfigured: boolean;
  /** Between the controllers and the API server, until `faultsEndMs`. */
  api: ApiFaults;
  faultsEndMs: number;
  configuration: Configuration;
  expected: Expected;
}

/** Keys of `config.properties`, in milliseconds. Every inequality of design 10 holds for every draw. */
export interface Configuration {
  isolationDelayMs: number;
  powerManagementDelayMs: number;
  stepRetries: number;
  maxRestarts: number;
  readyTimeoutMs: number;
  healthyDelayMs: number;
  probationMs: number;
  powerTimeoutMs: number;
  settleMs: number;
  releaseTimeoutMs: number;
  release: 'out-of-service' | 'delete-pods';
}

export interface Expected {
  /** States in which the fence may stand at the end; `none`: no fence was needed. */
  states: readonly ('final' | 'error' | 'none')[];
  /** `must`: the workload was freed by us; `never`: nothing was. */
  release: 'must' | 'may' | 'never';
  /** Virtual time by which the end must be reached. */
  withinMs: number;
}

const FAULTS: Readonly<Record<NodeFault, number>> = { panic: 4, hang: 4, partition: 2, flap: 3 };
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
const CRASH_TAGS: Readonly<Record<string, number>> = {
  any: 4,
  'api-write': 2,
  'nodefences-write': 6,
  'device-set': 4,
  'device-read': 3,
  'nodes-write': 3,
  'api-read': 1,
};
const MOMENTS: Readonly<Record<CrashPoint['moment'], number>> = { 'before-effect': 4, 'after-effect': 4, stopped: 2 };
/** Most calls of a kind that one fence makes; a crash point beyond the last call is a crash that does not happen. */
const CRASH_CALLS: Readonly<Record<string, number>> = {
  any: 120,
  'api-write': 60,
  'nodefences-write': 25,
  'device-set': 2,
  'device-read': 14,
  'nodes-write': 4,
  'api-read': 30,
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

const FAULT_AT_MS = 18_000;
const NODE_NAMES = ['a', 'b', 'c', 'd'] as const;

export function scenarioOf(seed: number): Scenario {
  const random = new SeededRandom(seed, 'scenario');
  const nodes = NODE_NAMES.slice(0, 2 + random.below(3));
  const fault = random.weighted(FAULTS);
  const device = random.weighted(DEVICES);
  const crash = random.chance(0.6) ? crashPoint(random) : undefined;
  const pause = random.chance(0.1) ? drawPause(random) : undefined;
  const wallJump = random.chance(0.1) ? { atMs: FAULT_AT_MS + random.between(0, 90_000), byMs: random.between(-7_200_000, 7_200_000) } : undefined;
  const isRough = random.chance(0.3);
  const scenario = {
    seed,
    nodes,
    victim: nodes[0] ?? 'a',
    controllers: random.chance(0.3) ? (2 as const) : (1 as const),
    fault,
    faultAtMs: FAULT_AT_MS + random.between(0, 10_000),
    flapMs: random.between(8_000, 150_000),
    device,
    deviceEffectMs: (device === 'slow' ? [4_000, 25_000] : [50, 1_500]) as RangeMs,
    crash,
    restartAfterMs: random.between(500, 20_000),
    pause,
    wallJump,
    stop: random.chance(0.1) ? { atMs: FAULT_AT_MS + random.between(0, 90_000), durationMs: random.between(5_000, 60_000) } : undefined,
    isMisconfigured: random.chance(0.04),
    api: isRough ? ROUGH_API : CALM_API,
    faultsEndMs: 200_000,
    configuration: drawConfiguration(random, isRough),
  };
  return { ...scenario, expected: expectedOf(scenario) };
}

/** The scenario in one line. */
export function describeScenario(scenario: Scenario): string {
  const { crash, pause } = scenario;
  return [
    `${scenario.fault} of ${scenario.victim} (${scenario.nodes.length} nodes)`,
    `bmc ${scenario.device}`,
    `release ${scenario.configuration.release}`,
    scenario.controllers === 2 ? 'two controllers' : 'one controller',
    crash === undefined ? undefined : describeCrash(crash, scenario.restartAfterMs),
    pause === undefined ? undefined : `${pause.kind} for ${(pause.durationMs / 1000).toFixed(1)} s`,
    scenario.stop === undefined ? undefined : `a person stops it for ${(scenario.stop.durationMs / 1000).toFixed(1)} s`,
    scenario.isMisconfigured ? 'the Secret is missing' : undefined,
    scenario.wallJump === undefined ? undefined : 'wall clock jumps',
    scenario.api === CALM_API ? undefined : 'rough API',
  ]
    .filter((part) => part !== undefined)
    .join(', ');
}

function describeCrash({ moment, tag, nth, stopMs }: CrashPoint, restartAfterMs: number): string {
  return moment === 'stopped'
    ? `stopped at ${tag} ${nth} for ${(stopMs / 1000).toFixed(1)} s`
    : `crash ${moment} of ${tag} ${nth}, back after ${(restartAfterMs / 1000).toFixed(1)} s`;
}

function crashPoint(random: SeededRandom): CrashPoint {
  const tag = random.weighted(CRASH_TAGS);
  return { tag, nth: 1 + random.below(CRASH_CALLS[tag] ?? 1), moment: random.weighted(MOMENTS), stopMs: random.between(1_000, 40_000) };
}

function drawPause(random: SeededRandom): NonNullable<Scenario['pause']> {
  return { kind: random.chance(0.5) ? 'stop' : 'suspend', atMs: FAULT_AT_MS + random.between(0, 90_000), durationMs: random.between(100, 40_000) };
}

function drawConfiguration(random: SeededRandom, isRough: boolean): Configuration {
  return {
    isolationDelayMs: random.pick([0, 1_000, 5_000]),
    powerManagementDelayMs: random.pick([2_000, 10_000]),
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
  };
}

const NEVER_OFF: ReadonlySet<DeviceBehaviour> = new Set(['lies', 'dead', 'unknown', 'refuses']);
/** Longest run of a fence that fails every way it can: detection, retries of 31 s and 30 s, back-off, crash and take-over, all twice. */
const LIMIT_MS = 1_200_000;

/** What must come of it. A node that came back by itself is final or was never fenced; a device that cannot switch off frees nothing. */
function expectedOf(scenario: Pick<Scenario, 'fault' | 'device' | 'isMisconfigured'>): Expected {
  const isHopeless = NEVER_OFF.has(scenario.device) || scenario.isMisconfigured;
  const isUncertain = !isHopeless && (scenario.device === 'half-dead' || scenario.device === 'restores');
  if (scenario.fault === 'flap') {
    return {
      states: isHopeless || isUncertain ? ['final', 'error', 'none'] : ['final', 'none'],
      release: isHopeless ? 'never' : 'may',
      withinMs: LIMIT_MS,
    };
  }
  if (isUncertain) {
    return { states: ['final', 'error'], release: 'may', withinMs: LIMIT_MS };
  }
  return isHopeless ? { states: ['error'], release: 'never', withinMs: LIMIT_MS } : { states: ['final'], release: 'must', withinMs: LIMIT_MS };
}
