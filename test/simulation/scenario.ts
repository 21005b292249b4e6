import type { DeviceBehaviour } from './devices.ts';
import type { CrashPoint } from './kernel/port.ts';
import type { ApiFaults, Breakage, RangeMs } from './network.ts';

/** panic: the kernel stops, the power stays. hang: the kubelet stops, the workload writes on. flap: cut off for a while, then back with the same boot. */
export type NodeFault = 'panic' | 'hang' | 'partition' | 'flap';

/** `leader`: whoever holds the Lease when it happens. */
export type Who = 'leader' | 0 | 1;

/**
 * Something that happens besides the node's own failure. pause: SIGSTOP or a sleeping machine. terminate: SIGTERM. break: of the way to the API server.
 * device: of the way to the failed node's device. clock: a wall clock is set anew. stop: a person's NodeFenceStop for every node. edit: somebody changes
 * the failed node's ConfigMap (another node's device, an unknown agent, deleted), or the Secret and the device get a new password. delete-fence: a
 * person deletes the NodeFence.
 */
export type Disturbance = { atMs: number; durationMs: number } & (
  | { what: 'pause'; who: Who; kind: 'stop' | 'suspend' }
  | { what: 'terminate'; who: Who }
  | { what: 'break'; who: Who | 'controllers' | 'everyone'; how: Breakage }
  | { what: 'device'; how: 'cut' | 'mute' }
  | { what: 'clock'; who: 'controllers' | 'leader' | 'api-server' | 'kubelets'; byMs: number }
  | { what: 'stop' }
  | { what: 'edit'; kind: 'address' | 'agent' | 'deleted' | 'rotated' }
  | { what: 'delete-fence' }
);

/** What one seed plays. Plain data, drawn from the seed alone; chances are weights, so that a new fault is a new row. */
export interface Scenario {
  seed: number;
  /** `a`, `b`, ...; the first one fails. */
  nodes: readonly string[];
  victim: string;
  controllers: 1 | 2;
  fault: NodeFault;
  faultAtMs: number;
  /** For `flap`: how long it is cut off each time, and how long it is back before the next. */
  flaps: readonly { downMs: number; upMs: number }[];
  /** For `flap`: the network is back so long after the first off was accepted, if it was not by then. */
  healAfterOffMs: number | undefined;
  device: DeviceBehaviour;
  /** From an accepted set to its effect. */
  deviceEffectMs: RangeMs;
  /** One after the other, of whichever controller makes the call; from the fault on. */
  crashes: readonly CrashPoint[];
  /** From a death to the new process. */
  restartAfterMs: number;
  disturbances: readonly Disturbance[];
  /** How fast clocks run: the two replicas', and all kubelets'. */
  clockRates: { replicas: readonly [number, number]; kubelets: number };
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

const NEVER_OFF: ReadonlySet<DeviceBehaviour> = new Set(['lies', 'dead', 'unknown', 'refuses']);
const SOMETIMES_OFF: ReadonlySet<DeviceBehaviour> = new Set(['half-dead', 'restores']);
/** What may cost a fence its last retry. */
const COSTLY: ReadonlySet<Disturbance['what']> = new Set(['device', 'edit', 'delete-fence']);
/** Longest run of a fence that fails every way it can: detection, retries of 31 s and 30 s, back-off, crash and take-over, all twice. */
const LIMIT_MS = 1_500_000;

/** What must come of it. A node that came back by itself is final or was never fenced; a device that cannot switch off frees nothing. */
export function expectedOf(scenario: Pick<Scenario, 'fault' | 'device' | 'isMisconfigured' | 'disturbances'>): Expected {
  const isHopeless = NEVER_OFF.has(scenario.device) || scenario.isMisconfigured;
  const isUncertain = SOMETIMES_OFF.has(scenario.device) || scenario.disturbances.some(({ what }) => COSTLY.has(what));
  const mayBeGone = scenario.fault === 'flap' || scenario.disturbances.some(({ what }) => what === 'delete-fence');
  const states: Expected['states'][number][] =
    isHopeless && scenario.fault !== 'flap' ? ['error'] : isHopeless || isUncertain ? ['final', 'error'] : ['final'];
  const release = isHopeless ? 'never' : isUncertain || mayBeGone ? 'may' : 'must';
  return { states: mayBeGone ? [...states, 'none'] : states, release, withinMs: LIMIT_MS };
}

/** How long a cluster takes to know all its nodes again after an outage of everything. */
const SETTLED_MS = 60_000;

/** Healthy nodes may have seemed silent to the cluster itself. */
export function isCutOff({ disturbances }: Pick<Scenario, 'disturbances'>): boolean {
  return disturbances.some((one) => one.what === 'break' && one.who === 'everyone');
}

/** When the last disturbance is over, for the cluster too. */
export function disturbedUntilMs({ disturbances }: Pick<Scenario, 'disturbances'>): number {
  const ends = disturbances.map((one) => one.atMs + one.durationMs + (one.what === 'break' && one.who === 'everyone' ? SETTLED_MS : 0));
  return Math.max(0, ...ends);
}

/** When a flapping node is back for good. */
export function flapsEndMs({ faultAtMs, flaps }: Pick<Scenario, 'faultAtMs' | 'flaps'>): number {
  return faultAtMs + flaps.reduce((sum, { downMs, upMs }) => sum + downMs + upMs, 0);
}
