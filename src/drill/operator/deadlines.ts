import type { Plan } from '../../domain/plan.ts';
import { EXPECTED, WORLD } from '../faults/names.ts';
import type { Expected, Fault } from '../faults/names.ts';

/** For machines that start, pods that move, and a busy computer. */
const MARGIN_MS = 60_000;
/** Exponent at which the back-off between restarts stops growing. */
const BACKOFF_STEPS_MAX = 4;

/** How each fault must end under these plans, and how long that may take at most with the delays as they are written. */
export function expectedOf(plans: readonly Plan[], fault: Fault): Expected {
  const { outcome, released } = EXPECTED[fault];
  const ofPlan = outcome === 'recovered' ? recoveryMs : failureMs;
  return {
    outcome,
    released: plans.every((plan) => plan.release !== 'none') && released,
    deadlineMs: MARGIN_MS + WORLD.nodeGraceMs + Math.max(...plans.map(ofPlan)),
  };
}

function recoveryMs({ timing }: Plan): number {
  return (
    timing.isolationDelayMs +
    timing.powerManagementDelayMs +
    timing.powerTimeoutMs +
    timing.releaseTimeoutMs +
    2 * timing.settleMs +
    timing.readyTimeoutMs +
    timing.healthyDelayMs
  );
}

/** Every level of every attempt of every restart runs into its timeout. */
function failureMs({ timing, powerManagement, stepRetries, maxRestarts }: Plan): number {
  const attemptMs = powerManagement.length * (timing.powerTimeoutMs + 2 * timing.settleMs + timing.setDeadlineMs);
  const roundMs = timing.isolationDelayMs + timing.powerManagementDelayMs + (stepRetries + 1) * attemptMs + timing.settleMs;
  let totalMs = roundMs;
  for (let restart = 0; restart < maxRestarts; restart += 1) totalMs += roundMs + timing.restartBackoffMs * 2 ** Math.min(restart, BACKOFF_STEPS_MAX);
  return totalMs;
}
