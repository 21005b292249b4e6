/** What will be done to one node, resolved from its configuration and frozen in the NodeFence when the fence begins (P7). */

export type Step = 'isolation' | 'power-management' | 'recovery';
export const STEPS: readonly Step[] = ['isolation', 'power-management', 'recovery'];

export type AgentKind = 'power' | 'fabric' | 'action';
/**
 * What a method does. `on`/`off` for power, `open`/`close` for fabric (written on/off there too), `reboot` and `delete` are split by the program, `diag` makes the
 * kernel dump before the off, `run` for action agents.
 */
export type MethodAction = 'on' | 'off' | 'reboot' | 'delete' | 'diag' | 'run';

/** Begins with an off that has to be proven: `reboot` goes on with an on, `delete` with the end of the machine. */
export function switchesOff({ action }: { action: MethodAction }): boolean {
  return action === 'off' || action === 'reboot' || action === 'delete';
}

/** Power comes back by it. */
export function switchesOn({ action }: { action: MethodAction }): boolean {
  return action === 'on' || action === 'reboot';
}

/** One of these switches that plug. */
export function isPlugOf(methods: readonly PlanMethod[], { device, plug }: Pick<PlanMethod, 'device' | 'plug'>): boolean {
  return methods.some((method) => method.device === device && method.plug === plug);
}

export type EvidenceKind = 'power-off' | 'instance-stopped' | 'host-off' | 'storage-revoked' | 'booted-anew' | 'ack' | 'watchdog' | 'kdump';
export type EvidenceGrade = 'read-back' | 'person' | 'inferred';
export type ReleaseMode = 'auto' | 'out-of-service' | 'delete-pods' | 'evict' | 'none';

export interface PlanMethod {
  /** Name of the method, as the step lists it. */
  name: string;
  /** Canonical agent name. */
  agent: string;
  kind: AgentKind;
  action: MethodAction;
  /** Queue key of the device; empty for agents without one. */
  device: string;
  plug: string;
  /** Without any secret; those are read again when the method runs. */
  parameters: Readonly<Record<string, string>>;
  /** Name of the Secret whose keys become parameters. */
  secret?: string;
  /** In its place: a file, or a program, of the controller's machine that has them (`secret_file=`, `secret_program=`). */
  secretFile?: string;
  secretProgram?: string;
  /** Storage that this fabric method revokes, as declared. */
  storage?: string;
  /** Which PersistentVolumes are on that storage; see storage-match.ts. */
  storageMatch?: string;
  /** Whether its device must show whose machine it switches, where that is written for it. Absent: as the plan says. */
  identity?: Plan['identity'];
  /** Worst case from an accepted set to its effect. */
  deviceMaxLatencyMs: number;
  /** What its proven off, or the end of its run, is evidence of. Absent: `power-off` of a power agent, nothing of an action. */
  evidence?: EvidenceKind;
  /** How long a run that only waits may take; absent: `set_deadline`. */
  runMaxMs?: number;
  /** Of an action: it runs only while the machine is proven off, behind the release and before the first on. */
  whileOff?: boolean;
  /** Pause between a `diag` and the off that would cut its dump. */
  diagWaitMs?: number;
}

export interface PlanLevel {
  /** 1 for `power_management=`, 2 for `power_management.2=`, ... */
  level: number;
  methods: readonly PlanMethod[];
}

/** Milliseconds, measured by the fence controller's monotonic clock. docs/configuration.md has the defaults and the inequalities. */
export interface Timing {
  isolationDelayMs: number;
  powerManagementDelayMs: number;
  notReadyPeriodMs: number;
  readyTimeoutMs: number;
  healthyDelayMs: number;
  probationMs: number;
  historyTtlMs: number;
  powerTimeoutMs: number;
  setDeadlineMs: number;
  offStableMs: number;
  settleMs: number;
  intentMaxAgeMs: number;
  releaseTimeoutMs: number;
  lifeWaitMs: number;
  alarmAfterMs: number;
  restartBackoffMs: number;
}

export interface PlanProblem {
  /** The step that it spoils; absent: every step. */
  step?: Step;
  severity: 'error' | 'warning';
  /** `ConfigMap fence-config-a, key config.properties, line 3`. */
  where: string;
  /** What is wrong and what to do. */
  message: string;
}

export interface KdumpPlan {
  /** How long a first message of an armed node is waited for before its power-management. */
  startTimeoutMs: number;
  /** Silence after which the dump is over. */
  finishedTimeoutMs: number;
  /** The longest that a dump holds, from its first message; more messages never extend it. */
  maxDurationMs: number;
  /** Its crash kernel is armed and notifies, whatever its daemon attests. */
  isArmed?: boolean;
}

export interface Plan {
  /** Where the steps came from. */
  source: 'node' | 'group' | 'default' | 'none';
  isolation: readonly PlanLevel[];
  powerManagement: readonly PlanLevel[];
  recovery: readonly PlanLevel[];
  timing: Timing;
  stepRetries: number;
  /** -1: for ever, with capped back-off. */
  maxRestarts: number;
  /** Fences of this node within 24 hours; absent: 3. */
  maxFencesPerDay?: number;
  /** `never`: nobody is to fence this node, which is said by whoever configures it. */
  trigger: 'not-ready' | 'never';
  release: ReleaseMode;
  /**
   * What the preservation of its machine means for the fence. `isolate-and-hold` (also when absent): isolated, then held before power-management. `power-off`:
   * the same, but where isolation is impossible its pods must move, and it is switched off. `ignore`: nothing.
   */
  preserved?: 'isolate-and-hold' | 'power-off' | 'ignore';
  /** Pods are released in batches at this pace first; the taint follows for the rest. */
  podsPerMinute?: number;
  /** Names of PriorityClasses that go first, in this order; batches too. */
  priorityOrder?: readonly string[];
  minimumEvidence: readonly EvidenceKind[];
  identity: 'verified' | 'unverified';
  /** Power supplies of the machine that the plan must switch off; undefined: the distinct plugs count. */
  supplies?: number;
  /** Silence of the node's daemon after which the node is suspected; absent: `fast_detection` is off. */
  fastDetectionMs?: number;
  /** The fence waits while a crash kernel dumps; absent: `kdump_enabled` is off. */
  kdump?: KdumpPlan;
  /** How often its devices are read while nothing is wrong; absent: 10 minutes. */
  probeIntervalMs?: number;
  problems: readonly PlanProblem[];
}

/**
 * Must the device show whose machine it is before this method changes anything? Where it is power, or the off of a way to a storage: what was closed to somebody
 * else proves nothing (ADR 36).
 */
export function demandsIdentity(plan: Pick<Plan, 'identity'>, method: Pick<PlanMethod, 'kind' | 'action' | 'storage' | 'identity'>): boolean {
  if ((method.identity ?? plan.identity) === 'unverified') return false;
  return method.kind === 'power' || (method.storage !== undefined && switchesOff(method));
}

export function levelsOf(plan: Plan, step: Step): readonly PlanLevel[] {
  switch (step) {
    case 'isolation':
      return plan.isolation;
    case 'power-management':
      return plan.powerManagement;
    case 'recovery':
      return plan.recovery;
  }
}

export const DEFAULT_TIMING: Timing = {
  isolationDelayMs: 5_000,
  powerManagementDelayMs: 300_000,
  notReadyPeriodMs: 600_000,
  readyTimeoutMs: 600_000,
  healthyDelayMs: 30_000,
  probationMs: 600_000,
  historyTtlMs: 86_400_000,
  powerTimeoutMs: 60_000,
  setDeadlineMs: 8_000,
  offStableMs: 3_000,
  settleMs: 12_000,
  intentMaxAgeMs: 600_000,
  releaseTimeoutMs: 60_000,
  lifeWaitMs: 15_000,
  alarmAfterMs: 900_000,
  restartBackoffMs: 30_000,
};

/** Stands in where nothing was resolved yet; never executed. */
export const EMPTY_PLAN: Plan = {
  source: 'none',
  isolation: [],
  powerManagement: [],
  recovery: [],
  timing: DEFAULT_TIMING,
  stepRetries: 0,
  maxRestarts: 0,
  trigger: 'not-ready',
  release: 'none',
  minimumEvidence: [],
  identity: 'verified',
  problems: [],
};
