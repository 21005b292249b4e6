/** Delays of a scenario: as short as the timing rules allow, so that a whole fence takes seconds. */
export const SETTINGS: Readonly<Record<string, string>> = {
  isolation_delay: '200ms',
  power_management_delay: '300ms',
  set_deadline: '3s',
  settle: '5100ms',
  off_stable: '1s',
  power_timeout: '3s',
  healthy_delay: '600ms',
  ready_timeout: '15s',
  probation: '8s',
  life_wait: '750ms',
  release_timeout: '10s',
  step_retries: '0',
  max_restarts: '0',
  restart_backoff: '500ms',
  kubelet_lease_renewal: '250ms',
  kubelet_read_latency: '500ms',
  node_grace: '1500ms',
};

/** The world around the controller, in milliseconds, as the settings above declare it. */
export const PACE = {
  kubelet: { renewMs: 250, heartbeatMs: 2_000, leaseDurationSeconds: 40, startDelayMs: 100, writeMs: 100 },
  cluster: { gcMs: 300, attachMs: 50 },
  nodeGraceMs: 1_500,
  bootDelayMs: 300,
  offStableMs: 1_000,
  settleMs: 5_100,
  releaseTimeoutMs: 10_000,
} as const;
