import { judge, violationsOf } from '../../src/drill/laws/judge.ts';
import type { TraceEvent } from '../../src/drill/laws/trace.ts';
import { CONTROLLER_USER } from './api.ts';
import { SECRET_TEXT } from './configuration.ts';
import type { Scenario } from './scenario.ts';

export interface Verdict {
  violations: string[];
  /** By law: how often it was put to the test. */
  checks: Readonly<Record<string, number>>;
}

/** What the law checker, which sees only devices, audit, disk and power, finds in a whole run. */
export function judged(events: readonly TraceEvent[], scenario: Scenario): Verdict {
  const judgement = judge(events, {
    controllerUser: CONTROLLER_USER,
    settleMs: scenario.configuration.settleMs,
    releaseTimeoutMs: scenario.configuration.releaseTimeoutMs,
    secrets: [SECRET_TEXT],
  });
  const overlaps = judgement.writers.overlaps > 0 ? [`two writers at once: ${judgement.writers.overlaps} times`] : [];
  const checks = Object.fromEntries(Object.entries(judgement.laws).map(([law, result]) => [law, result.checks]));
  return { violations: [...violationsOf(judgement), ...overlaps], checks };
}
