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
