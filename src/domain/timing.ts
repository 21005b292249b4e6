import { DEFAULT_STANDS } from './plan-problems.ts';
import { DEFAULT_TIMING } from './plan.ts';
import type { Timing } from './plan.ts';
import { DEFAULT_DAEMON_TIMING, demandDaemon, EVICTION_MS, FORCE_DETACH_MS, UNUSED_DAEMON } from './timing-daemon.ts';
import type { DaemonTiming, DaemonUse } from './timing-daemon.ts';
import { DEFAULT_CLUSTER_TIMING } from './timing-cluster.ts';
import type { ClusterTiming } from './timing-cluster.ts';
import { collecting, DRIFT, seconds } from './timing-demand.ts';
import type { Demand, TimingProblem } from './timing-demand.ts';

export type { TimingProblem } from './timing-demand.ts';

/** What the methods of a plan add. */
export interface PlanDemands {
  powerLevels: number;
  /** The slowest device of the plan. */
  deviceMaxLatencyMs: number;
  /** The shortest time after which a storage forgets that it shut the node out; absent: it never does, or none is in the plan. */
  blocklistExpiryMs?: number;
  /** From on to Ready, the slowest that this node was ever seen to take; absent: not seen yet. */
  slowestStartMs?: number;
}

/** The leader's own times. Milliseconds. */
export interface LeadershipTiming {
  leaseMs: number;
  renewDeadlineMs: number;
  retryMs: number;
}

/** Before the lease ends for others it ends for the leader itself. */
const LEASE_END_MARGIN_MS = 1_000;

/** Rule 1 for the leader's election itself, whatever the plans say; empty when it holds. Checked at start. */
export function checkLeadership(leadership: LeadershipTiming, cluster: ClusterTiming = DEFAULT_CLUSTER_TIMING): TimingProblem[] {
  const problems: TimingProblem[] = [];
  const demand = collecting(problems);
  const { leaseMs, renewDeadlineMs, retryMs } = leadership;
  const latestMs = leaseMs - LEASE_END_MARGIN_MS;
  demand(
    renewDeadlineMs <= latestMs && renewDeadlineMs > 1.2 * retryMs && retryMs > 0,
    1,
    'error',
    [],
    () =>
      `renew deadline ${seconds(renewDeadlineMs)} must be at most leader lease ${seconds(leaseMs)} − 1 s = ${seconds(latestMs)} and more than 1.2 · retry ${seconds(retryMs)}`,
  );
  const callMaxMs = leaseMs - retryMs - cluster.marginMs;
  demand(
    callMaxMs > cluster.callOverheadMs,
    1,
    'error',
    [],
    () =>
      `leader lease ${seconds(leaseMs)} − retry ${seconds(retryMs)} − margin ${seconds(cluster.marginMs)} = ${seconds(callMaxMs)} must be more than ${seconds(cluster.callOverheadMs)} for an intent: no device could ever be called`,
  );
  return problems;
}

/** The inequalities of the timing rules; empty when all hold. */
export function checkTiming(
  timing: Timing,
  demands: PlanDemands,
  cluster: ClusterTiming = DEFAULT_CLUSTER_TIMING,
  daemon: { timing: DaemonTiming; use: DaemonUse } = { timing: DEFAULT_DAEMON_TIMING, use: UNUSED_DAEMON },
): TimingProblem[] {
  const problems: TimingProblem[] = [];
  const demand = collecting(problems);
  demandCall(timing, demands, cluster, demand);
  demandHealth(timing, demands, cluster, demand);
  demandBeforeKubernetes(timing, demands, demand);
  demandBlocklist(timing, demands, cluster, demand);
  const kubernetesActsMs = EVICTION_MS + FORCE_DETACH_MS;
  demandDaemon(daemon.timing, daemon.use, { ...cluster, lifeWaitMs: timing.lifeWaitMs, kubernetesActsMs }, demand);
  return problems;
}

/** Rules 1 and 2. */
function demandCall(timing: Timing, demands: PlanDemands, cluster: ClusterTiming, demand: Demand): void {
  const callMs = timing.setDeadlineMs + cluster.callOverheadMs;
  const callMaxMs = cluster.leaseMs - cluster.renewRetryMs - cluster.marginMs;
  const callText = (): string => `set_deadline ${seconds(timing.setDeadlineMs)} + ${seconds(cluster.callOverheadMs)} for the intent`;
  const leaseText = (): string =>
    `leader lease ${seconds(cluster.leaseMs)} − retry ${seconds(cluster.renewRetryMs)} − margin ${seconds(cluster.marginMs)}`;
  demand(
    callMs <= callMaxMs,
    1,
    'error',
    ['set_deadline'],
    () => `${callText()} = ${seconds(callMs)} must be at most ${leaseText()} = ${seconds(callMaxMs)}: lower set_deadline`,
  );
  const settleMinMs = (1 + DRIFT) * callMs;
  demand(
    timing.settleMs >= settleMinMs,
    2,
    'error',
    ['settle', 'set_deadline'],
    () => `settle ${seconds(timing.settleMs)} must be at least 1.01 · (${callText()}) = ${seconds(settleMinMs)}: raise settle or lower set_deadline`,
  );
  demand(
    timing.powerTimeoutMs >= demands.deviceMaxLatencyMs,
    2,
    'error',
    ['power_timeout'],
    () =>
      `power_timeout ${seconds(timing.powerTimeoutMs)} must be at least the slowest device's latency ${seconds(demands.deviceMaxLatencyMs)}: raise power_timeout`,
  );
}

/** What matters only once a machine is off keeps none from being switched off: where it breaks rule 7 the default applies in. */
export function safeAfterOff(timing: Timing, cluster: ClusterTiming = DEFAULT_CLUSTER_TIMING): Timing {
  const healthyMinMs = 2 * cluster.kubeletRenewalMs;
  return {
    ...timing,
    healthyDelayMs: timing.healthyDelayMs >= healthyMinMs ? timing.healthyDelayMs : Math.max(DEFAULT_TIMING.healthyDelayMs, healthyMinMs),
    probationMs: timing.probationMs > timing.settleMs ? timing.probationMs : Math.max(DEFAULT_TIMING.probationMs, 2 * timing.settleMs),
  };
}

/** Rules 3 and 7. */
function demandHealth(timing: Timing, demands: PlanDemands, cluster: ClusterTiming, demand: Demand): void {
  const lifeMinMs = cluster.kubeletRenewalMs + cluster.readLatencyMs;
  demand(
    timing.lifeWaitMs >= lifeMinMs,
    3,
    'error',
    ['life_wait'],
    () =>
      `life_wait ${seconds(timing.lifeWaitMs)} must be at least kubelet renewal ${seconds(cluster.kubeletRenewalMs)} + jitter and read ${seconds(cluster.readLatencyMs)} = ${seconds(lifeMinMs)}: raise life_wait`,
  );
  const healthyMinMs = 2 * cluster.kubeletRenewalMs;
  const safe = safeAfterOff(timing, cluster);
  demand(
    timing.healthyDelayMs >= healthyMinMs,
    7,
    'warning',
    ['healthy_delay'],
    () =>
      `healthy_delay ${seconds(timing.healthyDelayMs)} must be at least 2 · kubelet renewal ${seconds(cluster.kubeletRenewalMs)} = ${seconds(healthyMinMs)}: raise healthy_delay; ${seconds(safe.healthyDelayMs)}, ${DEFAULT_STANDS}`,
  );
  demand(
    timing.probationMs > timing.settleMs,
    7,
    'warning',
    ['probation', 'settle'],
    () =>
      `probation ${seconds(timing.probationMs)} must be longer than settle ${seconds(timing.settleMs)}: raise probation; ${seconds(safe.probationMs)}, ${DEFAULT_STANDS}`,
  );
  const { slowestStartMs } = demands;
  if (slowestStartMs === undefined) return;
  demand(
    timing.readyTimeoutMs > slowestStartMs,
    7,
    'warning',
    ['ready_timeout'],
    () =>
      `ready_timeout ${seconds(timing.readyTimeoutMs)} should be longer than the slowest start of this node that was seen, ${seconds(slowestStartMs)} from on to Ready: raise ready_timeout`,
  );
}

/** Rule 9: until the last proof and release of the last level. */
function demandBlocklist(timing: Timing, demands: PlanDemands, cluster: ClusterTiming, demand: Demand): void {
  const { blocklistExpiryMs } = demands;
  if (blocklistExpiryMs === undefined) return;
  const longestMs = oursMs(timing, demands) + timing.releaseTimeoutMs;
  const leastMs = longestMs + cluster.marginMs;
  demand(
    blocklistExpiryMs > leastMs,
    9,
    'error',
    ['blocklist_expiry'],
    () =>
      `the blocklist forgets the node after ${seconds(blocklistExpiryMs)}, which must be longer than the longest fence ${seconds(longestMs)} + margin ${seconds(cluster.marginMs)} = ${seconds(leastMs)}: raise the expiry`,
  );
}

/** From the first observation until the last level is proven off. */
function oursMs(timing: Timing, demands: PlanDemands): number {
  return timing.isolationDelayMs + timing.powerManagementDelayMs + demands.powerLevels * (timing.powerTimeoutMs + timing.settleMs);
}

/** The node grace stands on both sides, and so on neither. */
function demandBeforeKubernetes(timing: Timing, demands: PlanDemands, demand: Demand): void {
  if (demands.powerLevels === 0) return;
  const fencedMs = oursMs(timing, demands);
  const theirsMs = EVICTION_MS + FORCE_DETACH_MS;
  const ours = (): string =>
    [
      `isolation_delay ${seconds(timing.isolationDelayMs)}`,
      `power_management_delay ${seconds(timing.powerManagementDelayMs)}`,
      `${demands.powerLevels} level(s) · (power_timeout ${seconds(timing.powerTimeoutMs)} + settle ${seconds(timing.settleMs)})`,
    ].join(' + ');
  demand(
    fencedMs < theirsMs,
    8,
    'warning',
    ['power_management_delay', 'isolation_delay', 'power_timeout', 'settle'],
    () =>
      `${ours()} = ${seconds(fencedMs)} should be under eviction 300 s + force-detach 360 s = ${seconds(theirsMs)}, else Kubernetes detaches volumes by force before the node is proven off`,
  );
}
