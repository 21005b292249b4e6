import { LEADER_LEASE } from '../../src/cli/composition.ts';
import { judge, violationsOf } from '../../src/drill/laws/judge.ts';
import type { TraceEvent } from '../../src/drill/laws/trace.ts';
import { CONTROLLER_USER } from './api.ts';
import { ROTATED_TEXT, SECRET_TEXT } from './configuration.ts';
import type { Scenario } from './scenario.ts';

const OFF_STABLE_MS = 3_000;
const LEASE_MS = 15_000;
/** With what the effect itself takes. */
const POWER_TIMEOUT_MS = 28_000;

export interface Verdict {
  violations: string[];
  /** By law: how often it was put to the test. */
  checks: Readonly<Record<string, number>>;
}

/** What the law checker, which sees only devices, audit, disk, power and logs (`texts`, by process), finds in a whole run. */
export function judged(events: readonly TraceEvent[], scenario: Scenario, texts: Readonly<Record<string, string>> = {}): Verdict {
  // What a controller whose clock is fast by one percent may take for these times.
  const drift = scenario.clockRates.replicas.every((rate) => rate === 1) ? 1 : 1.0102;
  const judgement = judge(events, {
    controllerUser: CONTROLLER_USER,
    leaseName: LEADER_LEASE,
    settleMs: scenario.configuration.settleMs / drift,
    releaseTimeoutMs: scenario.configuration.releaseTimeoutMs / drift,
    offStableMs: OFF_STABLE_MS / drift,
    leaseDurationMs: LEASE_MS * drift,
    secrets: [SECRET_TEXT, ROTATED_TEXT],
    texts,
  });
  const overlaps = judgement.writers.overlaps > 0 ? [`two writers at once: ${judgement.writers.overlaps} times`] : [];
  const checks = Object.fromEntries(Object.entries(judgement.laws).map(([law, result]) => [law, result.checks]));
  return { violations: [...violationsOf(judgement), ...overlaps].filter((violation) => !isOverdue(violation, scenario)), checks };
}

/** An off that comes later than its device ever does may find its fence at an end: no read before could have told. That it is put right shows the end. */
function isOverdue(violation: string, { disturbances }: Scenario): boolean {
  const isLate = disturbances.some((one) => one.what === 'late' && one.byMs > POWER_TIMEOUT_MS);
  return (
    isLate &&
    /^P8 .* ended in final, but the power is off|^P4 .* saw \d edges to off for \d intents|^P3 .* before the off of .* was read back/.test(violation)
  );
}
