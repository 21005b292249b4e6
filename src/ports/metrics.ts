import type { OrderedAction, OrderRefusal } from '../domain/node-daemon/order.ts';
import type { KdumpResult } from '../domain/kdump/message.ts';
import type { DumpState } from '../domain/kdump/record.ts';
import type { FenceState, JobResult, Outcome, Timeline } from '../domain/node-fence.ts';
import type { Fenceable } from '../domain/plan-problems.ts';
import type { EvidenceGrade, EvidenceKind, Step } from '../domain/plan.ts';
import type { RemedyPhase } from '../domain/remedy/position.ts';

/**
 * What the program counts, as plain functions, so that nothing but src/telemetry knows how metrics are kept. No call throws. Label values
 * are closed sets or names from configuration; node and pod names never become labels.
 */
export interface FenceMetrics {
  /** A status with a new state or step was written. `none`: the fence was created. */
  transitioned(from: FenceState | 'none', to: FenceState, step: Step): void;
  /** How many fences there are now, by state; states left out are zero. */
  fences(counts: Readonly<Partial<Record<FenceState, number>>>): void;
  /** How many fences are held now, by reason; reasons left out are zero. */
  held(counts: Readonly<Record<string, number>>): void;
  stepFinished(step: Step, result: 'done' | 'error', durationMs: number): void;
  /** One run of a method or of a release. */
  runFinished(agent: string, action: string, result: JobResult, durationMs: number): void;
  /** A point of the timeline, measured from when the failure of the node was noticed. */
  phaseReached(phase: Exclude<keyof Timeline, 'failedAt'>, sinceNoticedMs: number): void;
  fenceFinished(outcome: Outcome, durationMs: number): void;
  evidenceGained(kind: EvidenceKind, grade: EvidenceGrade): void;
  evidenceVoided(kind: EvidenceKind): void;
  /** How many failed nodes each configured storm policy holds now; a policy that is left out is configured no more. */
  policies(held: ReadonlyMap<string, number>): void;
  /** How many nodes there are now by what stands against fencing them. */
  fenceable(counts: Readonly<Record<Fenceable, number>>): void;
  /** Something a person should look at; `reason` is UpperCamel and from a closed set. */
  problem(reason: string): void;
}

/** Devices by agent; a device's own name would be one series per node. */
export interface DeviceMetrics {
  devices(agent: string, counts: { reachable: number; unreachable: number }): void;
  /** `undefined`: no device of this agent is configured any more. */
  oldestProbe(agent: string, ageMs: number | undefined): void;
  /** Devices that show another certificate or host key than the one on record. */
  strangers(agent: string, count: number): void;
  /** Time until the first credential or certificate of this agent's devices expires; `undefined`: none does, as far as they say. */
  credentialExpiry(agent: string, remainingMs: number | undefined): void;
}

/** Why a watch ended, or a cycle of the reflector failed before there was one. */
export type WatchEnd = 'closed' | 'idle' | 'expired' | 'refused' | 'error-event' | 'dropped' | 'garbled' | 'went-back' | 'list-failed';

export interface WatchMetrics {
  /** A whole paged list. */
  listed(resource: string, objects: number, durationMs: number): void;
  watchEvent(resource: string, type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'): void;
  watchEnded(resource: string, end: WatchEnd): void;
  /** The API server showed an older state than before: its store was restored from a backup, or this is another cluster. */
  wentBack(resource: string): void;
}

export interface WorkqueueMetrics {
  depth(queue: string, waiting: number, inFlight: number): void;
  /** `waitMs`: from due to started. */
  finished(queue: string, result: 'done' | 'failed' | 'aborted', waitMs: number, durationMs: number): void;
  retried(queue: string): void;
}

export interface LeaseMetrics {
  leading(isLeading: boolean, epoch: number): void;
  renewed(durationMs: number): void;
  renewFailed(): void;
}

/** Whether the API server accepts what the controller must write. */
export const SELF_CHECK_RESULTS = ['passed', 'refused', 'unanswered'] as const;

export interface SelfCheckMetrics {
  selfChecked(result: (typeof SELF_CHECK_RESULTS)[number]): void;
}

export interface EventMetrics {
  /** `importance`: who misses it where it is lost. */
  event(result: 'created' | 'counted' | 'rate-limited' | 'queue-full' | 'failed', importance: 'person' | 'outcome' | 'progress'): void;
}

/** Machines of one pool that are preserved for the same cause in the same phase. */
export interface PreservedCount {
  /** `none` where the machine has no pool, `other` beyond a bound. */
  pool: string;
  cause: 'user' | 'automatic';
  /** `Running`, `Failed`, ... */
  phase: string;
  count: number;
}

/** What every controller beside the one that fences counts. */
export interface SecondaryControllerMetrics {
  /** One write, or one drain. `kind`: from a closed set. */
  acted(kind: string, result: 'done' | 'conflict' | 'failed' | 'cancelled'): void;
  /** How many things stand that a person should look at. */
  problems(count: number): void;
}

/** What preservation keeps, and what it does. */
export interface PreservationMetrics extends SecondaryControllerMetrics {
  /** All that is preserved now; what is left out is not. */
  preserved(counts: readonly PreservedCount[]): void;
  /** Time until the first preservation of each pool ends; negative when it is overdue. */
  expiry(remainingMsByPool: ReadonlyMap<string, number>): void;
}

/** What a MachineHealthCheck may do now. */
export const CHECK_STATES = ['allowed', 'short-circuited', 'paused', 'faulty'] as const;
/** `waiting`: failed, and not remediated yet. The states overlap: `expected` are all. */
export const WATCHED_MACHINE_STATES = ['expected', 'healthy', 'failed', 'in-remediation', 'waiting'] as const;

export interface HealthCheckMetrics extends SecondaryControllerMetrics {
  checks(counts: Readonly<Partial<Record<(typeof CHECK_STATES)[number], number>>>): void;
  machines(counts: Readonly<Partial<Record<(typeof WATCHED_MACHINE_STATES)[number], number>>>): void;
}

/** `Waiting`: nothing is begun yet. */
export const REMEDIATION_PHASES = ['Waiting', 'Fencing', 'Recovering', 'Succeeded', 'Failed', 'Stopped'] as const;

export interface RemediationMetrics extends SecondaryControllerMetrics {
  requests(counts: Readonly<Partial<Record<(typeof REMEDIATION_PHASES)[number], number>>>): void;
}

/** Why a datagram of a node was dropped. `replayed`: its counter, or a newer one, came before. */
export const DATAGRAM_REFUSALS = ['malformed', 'unexpected', 'unknown sender', 'forged', 'another boot', 'replayed'] as const;

/** What became of an order: `given`: it was sent at all; `unanswered`: nothing was attested of it in time, or no more than that it was taken. */
export const ORDER_RESULTS = ['given', 'done', 'failed', 'refused', 'unanswered', 'not-sent'] as const;
export type OrderResult = (typeof ORDER_RESULTS)[number];

export interface NodeDaemonMetrics extends SecondaryControllerMetrics {
  /** A heartbeat. */
  received(): void;
  refused(reason: (typeof DATAGRAM_REFUSALS)[number]): void;
  answered(answer: 'grant' | 'refusal'): void;
  /** An order of a soft fence. `reason`: why the daemon refused it. */
  ordered(action: OrderedAction, result: OrderResult, reason?: OrderRefusal): void;
  /**
   * Nodes now. The states overlap: `attested` are all; `alive-on-storage` are silent, and renew their slot on storage; of `clock-slow` and `clock-fast` the clock was
   * last measured as running wrong.
   */
  daemons(counts: Readonly<Record<'attested' | 'heard' | 'armed' | 'alive-on-storage' | 'clock-slow' | 'clock-fast', number>>): void;
  /** Nodes whose silence fast detection looks at, by what it makes of it. */
  suspected(counts: { suspected: number; held: number; failed: number }): void;
}

export interface KdumpMetrics extends SecondaryControllerMetrics {
  /** One datagram. */
  message(result: KdumpResult): void;
  /** Nodes that are not Ready now, by what their crash kernel is heard to do. */
  dumps(counts: Readonly<Record<DumpState, number>>): void;
}

export interface RemedyMetrics extends SecondaryControllerMetrics {
  /** One remedy has ended. */
  ended(condition: string, remedy: string, result: 'succeeded' | 'failed' | 'lost'): void;
  /** Conditions of nodes now, by where their remedies are. */
  positions(counts: Readonly<Record<RemedyPhase, number>>): void;
}

/** What goes wrong with nodes, and the alarms that stand because of it. */
export interface ProblemMetrics extends SecondaryControllerMetrics {
  /** `reason`: one that an alarm names, or `other`. */
  counted(reason: string, times: number): void;
  /** All that are raised now, by reason and by whom they are about; what is left out is none. */
  alarms(counts: ReadonlyMap<string, { node: number; workload: number }>): void;
}

export interface Metrics {
  readonly fence: FenceMetrics;
  readonly device: DeviceMetrics;
  readonly watch: WatchMetrics;
  readonly workqueue: WorkqueueMetrics;
  readonly lease: LeaseMetrics;
  readonly event: EventMetrics;
  readonly selfCheck: SelfCheckMetrics;
  readonly preservation: PreservationMetrics;
  readonly healthChecks: HealthCheckMetrics;
  readonly remediation: RemediationMetrics;
  readonly machineRemediation: SecondaryControllerMetrics;
  readonly metal3Remediation: SecondaryControllerMetrics;
  readonly nodeDaemons: NodeDaemonMetrics;
  readonly kdump: KdumpMetrics;
  readonly remedies: RemedyMetrics;
  readonly problems: ProblemMetrics;
}

const nothing = (): void => undefined;

/** Keeps nothing: for tests and the simulation. */
export const NO_METRICS: Metrics = {
  fence: {
    transitioned: nothing,
    fences: nothing,
    held: nothing,
    stepFinished: nothing,
    runFinished: nothing,
    phaseReached: nothing,
    fenceFinished: nothing,
    evidenceGained: nothing,
    evidenceVoided: nothing,
    policies: nothing,
    fenceable: nothing,
    problem: nothing,
  },
  device: { devices: nothing, oldestProbe: nothing, strangers: nothing, credentialExpiry: nothing },
  watch: { listed: nothing, watchEvent: nothing, watchEnded: nothing, wentBack: nothing },
  workqueue: { depth: nothing, finished: nothing, retried: nothing },
  lease: { leading: nothing, renewed: nothing, renewFailed: nothing },
  event: { event: nothing },
  selfCheck: { selfChecked: nothing },
  preservation: { preserved: nothing, expiry: nothing, acted: nothing, problems: nothing },
  healthChecks: { checks: nothing, machines: nothing, acted: nothing, problems: nothing },
  remediation: { requests: nothing, acted: nothing, problems: nothing },
  machineRemediation: { acted: nothing, problems: nothing },
  metal3Remediation: { acted: nothing, problems: nothing },
  nodeDaemons: {
    received: nothing,
    refused: nothing,
    answered: nothing,
    ordered: nothing,
    daemons: nothing,
    suspected: nothing,
    acted: nothing,
    problems: nothing,
  },
  kdump: { message: nothing, dumps: nothing, acted: nothing, problems: nothing },
  remedies: { ended: nothing, positions: nothing, acted: nothing, problems: nothing },
  problems: { counted: nothing, alarms: nothing, acted: nothing, problems: nothing },
};
