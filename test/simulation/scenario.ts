import type { StartUp } from '../../src/testbed/apiserver/troubles.ts';
import type { DeviceBehaviour } from '../../src/testbed/simulation/devices.ts';
import type { Guard } from './guards.ts';
import type { CrashPoint } from '../../src/testbed/simulation/port.ts';
import type { ApiFaults, Breakage, Burst, RangeMs } from '../../src/testbed/simulation/network.ts';
import type { Dumps } from './dumps/dumps.ts';
import type { NodeDaemons } from './node-daemons/node-daemons.ts';
import type { RemedyWorld } from './remedies/remedy-world.ts';
import type { Ways } from './ways/ways.ts';
import type { SecondaryControllers } from './secondary-controllers/secondary-controllers.ts';

/**
 * panic: the kernel stops, the power stays. hang: the kubelet stops, the workload writes on. flap: cut off for a while, then back with the same boot. sick: the
 * kubelet lives and says that it is not Ready, in spells, and the workload writes on. none: what happens to the node is told elsewhere.
 */
export type NodeFault = 'panic' | 'hang' | 'partition' | 'flap' | 'sick' | 'none';

/** `leader`: whoever holds the Lease when it happens. */
export type Who = 'leader' | 0 | 1;

/** How another node fails. unplugged: somebody pulls its plug. */
export type OtherFault = 'panic' | 'hang' | 'partition' | 'unplugged';

/** What a person says of the failed node: `true` after having pulled its plug; `false` though it runs; the others speak of something else. */
export type Word = 'true' | 'false' | 'wrong-boot' | 'wrong-incident' | 'wrong-uid';

/** What somebody else sets on the failed node, and takes away again. */
export type ForeignMark = 'taint' | 'cordon' | 'annotation';

/** What somebody changes by hand. `address` to `rotated`: of the failed node; `cluster`: settings of all nodes; `policy`: one that holds everything. */
export type Edit = 'address' | 'agent' | 'deleted' | 'rotated' | 'cluster' | 'policy';

/**
 * Something that happens besides the failure of the first node. Each can be left out by itself, so that a failing seed shrinks.
 *
 * Processes: pause (SIGSTOP or a sleeping machine), terminate (SIGTERM), clock (a wall clock is set anew).
 * API server: break (the way to it), burst (most calls are refused), restart (down, then without its recent events, and for a moment without roles and storages),
 * throttle (Priority and Fairness answers 429 to our accounts, whatever they ask), expire (all watches get 410),
 * restore (etcd, from a backup taken `ageMs` before: down, then what was written since is gone, and versions begin below it), delete-lease (of the leader).
 * Devices: device (the way to the failed node's), hardware (a device behaves otherwise for a while), swap (two addresses lead to each other's device),
 * late (the next accepted off takes effect so much later), power-on (somebody switches a machine on that is off).
 * Nodes: fail (another one, until somebody repairs it), switch (the network of several).
 * People: stop (for every node, or for the failed one), edit, delete-fence, acknowledge, delete-node (and its machine boots anew), mark,
 * preserve (what is to become of the failed node's machine besides: it is kept, or nobody knows).
 */
export type Disturbance = { atMs: number; durationMs: number } & (
  | { what: 'pause'; who: Who; kind: 'stop' | 'suspend' }
  | { what: 'terminate'; who: Who }
  | { what: 'clock'; who: 'controllers' | 'leader' | 'api-server' | 'kubelets'; byMs: number }
  | { what: 'break'; who: Who | 'controllers' | 'everyone'; how: Breakage }
  | { what: 'burst'; how: Burst }
  | { what: 'restart'; lacks?: StartUp }
  | { what: 'throttle' }
  | { what: 'expire' }
  | { what: 'restore'; ageMs: number }
  | { what: 'delete-lease' }
  | { what: 'device'; how: 'cut' | 'mute' }
  | { what: 'hardware'; node: string; behaviour: DeviceBehaviour }
  | { what: 'swap'; node: string }
  | { what: 'late'; byMs: number }
  | { what: 'power-on'; node: string }
  | { what: 'fail'; node: string; fault: OtherFault }
  | { what: 'switch'; nodes: readonly string[] }
  | { what: 'stop'; scope?: 'node' }
  | { what: 'edit'; kind: Edit }
  | { what: 'delete-fence' }
  | { what: 'acknowledge'; word: Word }
  | { what: 'delete-node' }
  | { what: 'mark'; mark: ForeignMark }
  | { what: 'preserve'; guard: Guard }
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
  /** For `flap` and `sick`: how long it is cut off or not Ready each time, and how long it is back before the next. Without an end: until it boots anew. */
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
  /** How fast clocks run: the two replicas', all kubelets', and the API server's (1 when absent). */
  clockRates: { replicas: readonly [number, number]; kubelets: number; apiServer?: number };
  /** The nodes on which the two replicas run; absent: on machines that never fail. */
  hosts?: readonly [string, string];
  /** How each machine is fed; absent: by its BMC alone. */
  feed?: Feed;
  /** The Secret that the methods name does not exist. */
  isMisconfigured: boolean;
  /** Between the controllers and the API server, until `faultsEndMs`. */
  api: ApiFaults;
  faultsEndMs: number;
  /** More is to be done than is done at once; absent: it is not. */
  crowd?: Crowd;
  configuration: Configuration;
  /** The controllers beside the one that fences; absent: it is alone. */
  secondaries?: SecondaryControllers;
  /** The daemons of the nodes; absent: there are none. */
  daemons?: NodeDaemons;
  /** The crash kernels of nodes; absent: nobody sends or hears kdump messages. */
  dumps?: Dumps;
  /** Remedies, and what they answer; absent: they are switched off. */
  remedies?: RemedyWorld;
  /** What fences do beside their BMCs, and how they let go; absent: by them alone. */
  ways?: Ways;
  expected: Expected;
}

/** Nodes wait in the queue, in whose order they are decided: few are worked on at once, and each request of theirs takes its time until `faultsEndMs`. */
export interface Crowd {
  slots: number;
  /** One way. */
  latencyMs: RangeMs;
}

/** Where the power of each machine comes from. */
export interface Feed {
  /**
   * `supplies`: two outlets, both must be off; `level`: a BMC, and behind it one outlet as the second level; `two-outlets`: the same with two of them, which
   * alone are switched on again there; `outlets-first`: the two outlets, and the BMC as the second level.
   */
  kind: 'supplies' | 'level' | 'two-outlets' | 'outlets-first';
  /** What a machine does when its power comes back. */
  restore: 'always-on' | 'last' | 'always-off';
}

/**
 * Storm policies as an administrator configured them. off: none. prompt: the defaults, but no grace after a start. default: nothing configured.
 * one-at-a-time: as `prompt`, and one fence at a time.
 */
export type Policies = 'off' | 'prompt' | 'default' | 'one-at-a-time';

/** Keys of `config.properties`, in milliseconds. Every inequality of docs/configuration.md holds for every draw. */
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
  release: 'out-of-service' | 'delete-pods' | 'evict';
  policies: Policies;
}

/** How long a cluster takes to know all its nodes again after an outage of everything. */
const SETTLED_MS = 60_000;

/** Healthy nodes may have seemed silent to the cluster itself. */
export function isCutOff({ disturbances, daemons }: Pick<Scenario, 'disturbances' | 'daemons'>): boolean {
  return disturbances.some(isOutage) || daemons?.deeds.some(({ what }) => what === 'outage') === true;
}

/** Nodes that fail, or that nobody can tell from failed ones for a while. */
export function failing({ victim, disturbances }: Pick<Scenario, 'victim' | 'disturbances'>): ReadonlySet<string> {
  const others = disturbances.flatMap((one) => (one.what === 'fail' ? [one.node] : one.what === 'switch' ? one.nodes : []));
  return new Set([victim, ...others]);
}

/** And those that somebody may ask to be fenced, or that may take themselves down. */
export function concerned(scenario: Pick<Scenario, 'victim' | 'disturbances' | 'secondaries' | 'daemons' | 'remedies'>): ReadonlySet<string> {
  const { secondaries, daemons, remedies } = scenario;
  return new Set([...failing(scenario), ...(secondaries?.nodes ?? []), ...(daemons?.mayGoDown ?? []), ...(remedies?.nodes ?? [])]);
}

/** When the last disturbance is over, for the cluster too. */
export function disturbedUntilMs({ disturbances }: Pick<Scenario, 'disturbances'>): number {
  const ends = disturbances.map((one) => one.atMs + one.durationMs + (isOutage(one) ? SETTLED_MS : 0));
  return Math.max(0, ...ends);
}

function isOutage(one: Disturbance): boolean {
  return one.what === 'restart' || one.what === 'restore' || (one.what === 'break' && one.who === 'everyone');
}

/** When a flapping node is back for good, or begins its last spell. */
export function flapsEndMs({ faultAtMs, flaps }: Pick<Scenario, 'faultAtMs' | 'flaps'>): number {
  return faultAtMs + flaps.reduce((sum, { downMs, upMs }) => sum + (Number.isFinite(downMs) ? downMs : 0) + upMs, 0);
}

/** `none`: no fence was needed, or it is gone. `held`: a storm policy holds it for as long as other nodes stay down. */
export type EndState = 'final' | 'error' | 'none' | 'held';

export interface Expected {
  /** How the fence of the first failed node may stand at the end. */
  states: readonly EndState[];
  /** `must`: the workload was freed by us; `unless-held`: or its fence says what held it; `never`: nothing was. */
  release: 'must' | 'unless-held' | 'may' | 'never';
  /** Virtual time by which the end must be reached. */
  withinMs: number;
}
