import { DEFAULT_TIMING } from '../../src/domain/plan.ts';
import type { Plan, Timing } from '../../src/domain/plan.ts';
import { planOf } from '../../src/domain/testing/model.ts';

/** Delays short enough to walk through, in the order of size of the real ones. */
export const SHORT: Timing = {
  ...DEFAULT_TIMING,
  isolationDelayMs: 1_000,
  powerManagementDelayMs: 2_000,
  notReadyPeriodMs: 6_000,
  readyTimeoutMs: 12_000,
  healthyDelayMs: 4_000,
  probationMs: 8_000,
  historyTtlMs: 16_000,
  settleMs: 3_000,
  setDeadlineMs: 1_000,
  releaseTimeoutMs: 8_000,
  lifeWaitMs: 3_000,
  alarmAfterMs: 10_000,
  restartBackoffMs: 2_000,
};

export function shortPlan(more: Partial<Plan> = {}): Plan {
  return planOf({ timing: SHORT, stepRetries: 1, ...more });
}
