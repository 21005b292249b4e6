import type { Plan } from '../../domain/plan.ts';
import type { StormPolicy } from '../../domain/policies/policy.ts';
import { DEFAULT_CLUSTER_TIMING } from '../../domain/timing-cluster.ts';
import { stagesOf, totalOf } from './plan-durations.ts';
import { duration } from './terminal/times.ts';

/** From the failure to the proven off, added up from the settings. Milliseconds. */
export interface TimeToOff {
  nodeGraceMs: number;
  isolationDelayMs: number;
  powerManagementDelayMs: number;
  /** What is left: isolation, off and its proof. */
  offMs: number;
  /** How long a controller that has just started holds new fences; 0: not at all. */
  startupMs: number;
  usualMs: number;
  /** Where the node fails as the controller starts. */
  afterStartMs: number;
}

/** `undefined`: nothing of the plan proves an off. */
export function timeToOff(plan: Plan, policies: readonly StormPolicy[]): TimeToOff | undefined {
  const { isolationDelayMs, powerManagementDelayMs } = plan.timing;
  const proven = totalOf(stagesOf(plan), ({ evidence }) => evidence !== undefined);
  if (proven === undefined) return undefined;
  const offMs = proven.typicalMs - isolationDelayMs - powerManagementDelayMs;
  const nodeGraceMs = Math.max(0, ...policies.map((policy) => policy.nodeGraceMs ?? 0)) || DEFAULT_CLUSTER_TIMING.nodeGraceMs;
  const startupMs = Math.max(0, ...policies.map((policy) => policy.startupMs ?? 0));
  const isolatedMs = nodeGraceMs + isolationDelayMs;
  const restMs = powerManagementDelayMs + offMs;
  // The grace of a start runs while the failure is noticed.
  return {
    nodeGraceMs,
    isolationDelayMs,
    powerManagementDelayMs,
    offMs,
    startupMs,
    usualMs: isolatedMs + restMs,
    afterStartMs: Math.max(isolatedMs, startupMs) + restMs,
  };
}

/** One sentence for plan, explain and the README: the sum, what it is made of, and what shortens it. */
export function describeTimeToOff(time: TimeToOff): string {
  const { nodeGraceMs, isolationDelayMs, powerManagementDelayMs, offMs, startupMs, usualMs, afterStartMs } = time;
  const parts = `Ready=Unknown after ${duration(nodeGraceMs)}, isolation_delay ${duration(isolationDelayMs)}, power_management_delay ${duration(powerManagementDelayMs)}, off and proof ${duration(offMs)}`;
  const usual = `switched off about ${about(usualMs)} after the failure (${parts})`;
  if (afterStartMs <= usualMs) return `${usual}; power_management_delay shortens it`;
  return `switched off about ${about(afterStartMs)} after the failure if the controller has just started (startup-grace holds new fences for ${duration(startupMs)}), later ${usual.replace('switched off ', '').replace(' after the failure', '')}; power_management_delay, and duration of fence-policy-startup-grace, shorten it`;
}

/** `10 min`, `45 s`: nobody counts the seconds of minutes. */
function about(ms: number): string {
  return ms < 90_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
}
