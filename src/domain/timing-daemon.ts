import { FAST_OVER_SLOW, seconds } from './timing-demand.ts';
import type { Demand } from './timing-demand.ts';

/** Times of what runs on the node itself, of crash dumps, and of fast detection. Milliseconds; the symbols are those of the timing rules. */
export interface DaemonTiming {
  /** G: validity of a grant or vouch. */
  grantMs: number;
  /** WD: hardware watchdog timeout. */
  watchdogMs: number;
  feedIntervalMs: number;
  isolationTimeoutMs: number;
  podStopMaxMs: number;
  /** From the watchdog's bite until the machine is surely reset. */
  resetTimeMs: number;
  /** How long the API server may be away when it fails over. */
  apiFailOverMs: number;
  attestationIntervalMs: number;
  /** An older attestation when the node failed: its watchdog counts as not armed. */
  attestationMaxAgeMs: number;
  kdumpStartTimeoutMs: number;
  kdumpFinishedTimeoutMs: number;
  /** From the first message; never extended. */
  kdumpMaxDurationMs: number;
  heartbeatIntervalMs: number;
  /** Silence of the heartbeat after which a node is suspected. */
  heartbeatTimeoutMs: number;
}

export const DEFAULT_DAEMON_TIMING: DaemonTiming = {
  grantMs: 5_000,
  watchdogMs: 10_000,
  feedIntervalMs: 3_000,
  isolationTimeoutMs: 40_000,
  podStopMaxMs: 30_000,
  resetTimeMs: 10_000,
  apiFailOverMs: 15_000,
  attestationIntervalMs: 30_000,
  attestationMaxAgeMs: 60_000,
  kdumpStartTimeoutMs: 30_000,
  kdumpFinishedTimeoutMs: 60_000,
  kdumpMaxDurationMs: 1_800_000,
  heartbeatIntervalMs: 1_000,
  heartbeatTimeoutMs: 3_000,
};

/** What the plan makes of it: a broken time spoils it only when something rests on it. */
export interface DaemonUse {
  /** `minimum_evidence` names `watchdog`. */
  admitsWatchdog: boolean;
  /** `kdump_enabled`, or `minimum_evidence` names `kdump`. */
  waitsForKdump: boolean;
  fastDetection: boolean;
}

export const UNUSED_DAEMON: DaemonUse = { admitsWatchdog: false, waitsForKdump: false, fastDetection: false };

/** What the rest of the timing knows that these rules need. */
interface ClusterTiming {
  leaseMs: number;
  marginMs: number;
  kubeletRenewalMs: number;
  lifeWaitMs: number;
  /** Eviction and detaching by force, from when the node failed. */
  kubernetesActsMs: number;
}

/** Pods are evicted this long after a node stopped answering, and their volumes detached by force that long after. */
export const EVICTION_MS = 300_000;
export const FORCE_DETACH_MS = 360_000;
const KUBERNETES_ACTS_MS = EVICTION_MS + FORCE_DETACH_MS;

/** T_selffence: from the last possible grant or vouch until the machine has surely been reset by itself. */
export function selfFenceMs(daemon: DaemonTiming): number {
  return daemon.grantMs + daemon.isolationTimeoutMs + daemon.podStopMaxMs + daemon.watchdogMs;
}

/** From the last possible grant or vouch until silence is evidence `watchdog`: counted there by the node's clock, here by ours. */
export function watchdogProvesAfterMs(daemon: DaemonTiming, marginMs: number): number {
  return FAST_OVER_SLOW * (selfFenceMs(daemon) + daemon.resetTimeMs) + marginMs;
}

/** Rules 4, 5 and 6 for the daemon of one node, which cannot know what rests on it. */
export function demandDaemonOnItsOwn(daemon: DaemonTiming, around: Pick<ClusterTiming, 'leaseMs' | 'marginMs'>, demand: Demand): void {
  demandSelfFence(daemon, { ...UNUSED_DAEMON, admitsWatchdog: true }, { ...around, kubernetesActsMs: KUBERNETES_ACTS_MS }, demand);
}

/** Rules 4, 5, 6, 9 (crash dumps) and 10. */
export function demandDaemon(daemon: DaemonTiming, use: DaemonUse, around: ClusterTiming, demand: Demand): void {
  demandSelfFence(daemon, use, around, demand);
  const dump = use.waitsForKdump ? 'error' : 'warning';
  const leastMs = daemon.kdumpStartTimeoutMs + daemon.kdumpFinishedTimeoutMs;
  demand(
    daemon.kdumpMaxDurationMs > leastMs,
    9,
    dump,
    ['kdump_max_duration', 'kdump_finished_timeout', 'kdump_start_timeout'],
    () =>
      `kdump_max_duration ${seconds(daemon.kdumpMaxDurationMs)} counts from the first message and must be longer than kdump_start_timeout ${seconds(daemon.kdumpStartTimeoutMs)} + kdump_finished_timeout ${seconds(daemon.kdumpFinishedTimeoutMs)} = ${seconds(leastMs)}: raise kdump_max_duration`,
  );
  if (!use.fastDetection) return;
  demand(
    daemon.heartbeatTimeoutMs <= 3_000 && daemon.heartbeatTimeoutMs > 2 * daemon.heartbeatIntervalMs,
    10,
    'error',
    ['heartbeat_timeout', 'heartbeat_interval'],
    () =>
      `heartbeat_timeout ${seconds(daemon.heartbeatTimeoutMs)} must be more than two heartbeats of ${seconds(daemon.heartbeatIntervalMs)} and at most 3 s`,
  );
  demand(
    around.lifeWaitMs > around.kubeletRenewalMs,
    10,
    'error',
    ['life_wait', 'fast_detection'],
    () =>
      `fast_detection acts on a kubelet lease that is stale by receipt: life_wait ${seconds(around.lifeWaitMs)} must be longer than kubelet renewal ${seconds(around.kubeletRenewalMs)}: raise life_wait`,
  );
}

function demandSelfFence(
  daemon: DaemonTiming,
  use: DaemonUse,
  around: Pick<ClusterTiming, 'leaseMs' | 'marginMs' | 'kubernetesActsMs'>,
  demand: Demand,
): void {
  const severity = use.admitsWatchdog ? 'error' : 'warning';
  const provesMs = watchdogProvesAfterMs(daemon, around.marginMs);
  const sum = `G ${seconds(daemon.grantMs)} + isolation_timeout ${seconds(daemon.isolationTimeoutMs)} + pod_stop_max ${seconds(daemon.podStopMaxMs)} + watchdog ${seconds(daemon.watchdogMs)}`;
  demand(
    provesMs < around.kubernetesActsMs,
    4,
    'warning',
    ['isolation_timeout', 'pod_stop_max', 'reset_time'],
    () =>
      `a watchdog proves at the earliest after 1.01/0.99 · (${sum} + reset_time ${seconds(daemon.resetTimeMs)}) + margin ${seconds(around.marginMs)} = ${seconds(provesMs)}, which should be under ${seconds(around.kubernetesActsMs)}, when Kubernetes has detached volumes by force`,
  );
  demand(
    3 * daemon.feedIntervalMs <= daemon.watchdogMs,
    5,
    severity,
    ['watchdog_timeout', 'feed_interval'],
    () =>
      `feed interval ${seconds(daemon.feedIntervalMs)} must be at most a third of the watchdog's ${seconds(daemon.watchdogMs)}: raise watchdog_timeout`,
  );
  const awayMs = daemon.apiFailOverMs + around.leaseMs;
  demand(
    daemon.isolationTimeoutMs >= awayMs,
    5,
    severity,
    ['isolation_timeout'],
    () =>
      `isolation_timeout ${seconds(daemon.isolationTimeoutMs)} must be at least API fail-over ${seconds(daemon.apiFailOverMs)} + leader lease ${seconds(around.leaseMs)} = ${seconds(awayMs)}, else a fail-over takes the fleet down: raise isolation_timeout`,
  );
  demand(
    daemon.attestationMaxAgeMs >= 2 * daemon.attestationIntervalMs,
    6,
    severity,
    ['attestation_interval'],
    () =>
      `an attestation counts for ${seconds(daemon.attestationMaxAgeMs)}, which must be at least 2 · the interval of ${seconds(daemon.attestationIntervalMs)}, else an armed watchdog counts as not armed: lower attestation_interval`,
  );
}
