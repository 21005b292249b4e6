import { bounded } from './node-fence.ts';
import type { Timing } from './plan.ts';

/** What the inequalities need to know beyond the plan: the leader's lease and how the cluster sees a node die. Milliseconds. */
export interface ClusterTiming {
  /** L: duration of the leader's lease. */
  leaseMs: number;
  /** r: renew retry. */
  renewRetryMs: number;
  /** m: margin. */
  marginMs: number;
  /** What a call takes beside the set itself: writing the intent, killing a child. */
  callOverheadMs: number;
  /** How often a kubelet renews its lease. */
  kubeletRenewalMs: number;
  /** Jitter of that renewal and the latency of a read. */
  readLatencyMs: number;
  /** From the last renewal to Ready=Unknown. */
  nodeGraceMs: number;
}

export const DEFAULT_CLUSTER_TIMING: ClusterTiming = {
  leaseMs: 15_000,
  renewRetryMs: 2_000,
  marginMs: 3_000,
  callOverheadMs: 2_000,
  kubeletRenewalMs: 10_000,
  readLatencyMs: 2_500,
  nodeGraceMs: 40_000,
};

/** What the methods of a plan add. */
export interface PlanDemands {
  powerLevels: number;
  /** The slowest device of the plan. */
  deviceMaxLatencyMs: number;
}

export interface TimingProblem {
  rule: 1 | 2 | 3 | 7 | 8;
  severity: 'error' | 'warning';
  /** Keys of the configuration that would mend it, the likeliest first. */
  keys: readonly string[];
  /** The inequality with its numbers filled in, and what to change. */
  message: string;
}

/** Clock drift, at most one percent. */
const DRIFT = 0.01;
/** Pods are evicted this long after a node stopped answering, and their volumes detached by force that long after. */
const EVICTION_MS = 300_000;
const FORCE_DETACH_MS = 360_000;

function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(3))} s`;
}

/** The inequalities of the timing rules; empty when all hold. */
export function checkTiming(timing: Timing, demands: PlanDemands, cluster: ClusterTiming = DEFAULT_CLUSTER_TIMING): TimingProblem[] {
  const problems: TimingProblem[] = [];
  const demand: Demand = (holds, rule, severity, keys, message) => {
    if (!holds) problems.push({ rule, severity, keys, message: bounded(`timing rule ${rule}: ${message}`) });
  };
  const callMs = timing.setDeadlineMs + cluster.callOverheadMs;
  const callMaxMs = cluster.leaseMs - cluster.renewRetryMs - cluster.marginMs;
  const callText = `set_deadline ${seconds(timing.setDeadlineMs)} + ${seconds(cluster.callOverheadMs)} for the intent`;
  const leaseText = `leader lease ${seconds(cluster.leaseMs)} − retry ${seconds(cluster.renewRetryMs)} − margin ${seconds(cluster.marginMs)}`;
  demand(
    callMs <= callMaxMs,
    1,
    'error',
    ['set_deadline'],
    `${callText} = ${seconds(callMs)} must be at most ${leaseText} = ${seconds(callMaxMs)}: lower set_deadline`,
  );
  const settleMinMs = (1 + DRIFT) * callMs;
  demand(
    timing.settleMs >= settleMinMs,
    2,
    'error',
    ['settle', 'set_deadline'],
    `settle ${seconds(timing.settleMs)} must be at least 1.01 · (${callText}) = ${seconds(settleMinMs)}: raise settle or lower set_deadline`,
  );
  demand(
    timing.powerTimeoutMs >= demands.deviceMaxLatencyMs,
    2,
    'error',
    ['power_timeout'],
    `power_timeout ${seconds(timing.powerTimeoutMs)} must be at least the slowest device's latency ${seconds(demands.deviceMaxLatencyMs)}: raise power_timeout`,
  );
  const lifeMinMs = cluster.kubeletRenewalMs + cluster.readLatencyMs;
  demand(
    timing.lifeWaitMs >= lifeMinMs,
    3,
    'error',
    ['life_wait'],
    `life_wait ${seconds(timing.lifeWaitMs)} must be at least kubelet renewal ${seconds(cluster.kubeletRenewalMs)} + jitter and read ${seconds(cluster.readLatencyMs)} = ${seconds(lifeMinMs)}: raise life_wait`,
  );
  const healthyMinMs = 2 * cluster.kubeletRenewalMs;
  demand(
    timing.healthyDelayMs >= healthyMinMs,
    7,
    'error',
    ['healthy_delay'],
    `healthy_delay ${seconds(timing.healthyDelayMs)} must be at least 2 · kubelet renewal ${seconds(cluster.kubeletRenewalMs)} = ${seconds(healthyMinMs)}: raise healthy_delay`,
  );
  demand(
    timing.probationMs > timing.settleMs,
    7,
    'error',
    ['probation', 'settle'],
    `probation ${seconds(timing.probationMs)} must be longer than settle ${seconds(timing.settleMs)}: raise probation`,
  );
  demandBeforeKubernetes(timing, demands, demand);
  return problems;
}

type Demand = (holds: boolean, rule: TimingProblem['rule'], severity: TimingProblem['severity'], keys: readonly string[], message: string) => void;

/** The node grace stands on both sides, and so on neither. */
function demandBeforeKubernetes(timing: Timing, demands: PlanDemands, demand: Demand): void {
  if (demands.powerLevels === 0) return;
  const oursMs = timing.isolationDelayMs + timing.powerManagementDelayMs + demands.powerLevels * (timing.powerTimeoutMs + timing.settleMs);
  const theirsMs = EVICTION_MS + FORCE_DETACH_MS;
  const ours = [
    `isolation_delay ${seconds(timing.isolationDelayMs)}`,
    `power_management_delay ${seconds(timing.powerManagementDelayMs)}`,
    `${demands.powerLevels} level(s) · (power_timeout ${seconds(timing.powerTimeoutMs)} + settle ${seconds(timing.settleMs)})`,
  ].join(' + ');
  demand(
    oursMs < theirsMs,
    8,
    'warning',
    ['power_management_delay', 'isolation_delay', 'power_timeout', 'settle'],
    `${ours} = ${seconds(oursMs)} should be under eviction 300 s + force-detach 360 s = ${seconds(theirsMs)}, else Kubernetes detaches volumes by force before the node is proven off`,
  );
}
