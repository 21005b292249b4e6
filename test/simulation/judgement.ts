import { LEADER_LEASE } from '../../src/manager/composition.ts';
import { judge, violationsOf } from '../../src/laws/judge.ts';
import type { TraceEvent } from '../../src/laws/trace.ts';
import { CONTROLLER_USER } from './api.ts';
import { ROTATED_TEXT, SECRET_TEXT } from './configuration.ts';
import { PRIVATE_KEY_TEXT } from '../../src/testbed/simulation/keys.ts';
import type { Scenario } from './scenario.ts';

const OFF_STABLE_MS = 3_000;
const LEASE_MS = 15_000;
/** With what the effect itself takes. */
const POWER_TIMEOUT_MS = 28_000;
/** Until a node that lost its power is no longer Ready, and what its fence does meanwhile. */
const NOTICED_MS = 60_000;
/** Violations tell their time in thousandths. */
const ROUNDED_MS = 0.001;

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
    requireIdentity: scenario.ways?.areUnnamed !== true,
    leaseDurationMs: LEASE_MS * drift,
    lateEffectMs: Math.max(0, ...scenario.disturbances.map((one) => (one.what === 'late' ? POWER_TIMEOUT_MS + one.byMs : 0))),
    secrets: [SECRET_TEXT, ROTATED_TEXT, ...(scenario.daemons === undefined ? [] : [PRIVATE_KEY_TEXT])],
    texts,
  });
  const overlaps = judgement.writers.overlaps > 0 ? [`two writers at once: ${judgement.writers.overlaps} times`] : [];
  const checks = Object.fromEntries(Object.entries(judgement.laws).map(([law, result]) => [law, result.checks]));
  const late = lateOffs(events, scenario);
  return { violations: [...violationsOf(judgement), ...overlaps].filter((violation) => !isExcused(violation, scenario.victim, late)), checks };
}

/** From a set off to its effect, which came later than its device ever does, or to the set on that came in its place. */
interface LateOff {
  sentAt: number;
  endedAt: number;
  isOff: boolean;
}

/** Offs of the failed node that were late beyond what its device declares, by as much as was drawn: only there a fence may have ended before. */
function lateOffs(events: readonly TraceEvent[], { victim, disturbances }: Scenario): LateOff[] {
  const delays = disturbances.flatMap((one) => (one.what === 'late' ? [one.byMs] : []));
  const late: LateOff[] = [];
  const sent: number[] = [];
  let lastOffAt = -Infinity;
  for (const event of events) {
    if (event.kind === 'device' && event.node === victim && event.action === 'set') {
      const last = sent.at(-1);
      const isOverdue = last !== undefined && last > lastOffAt && delays.some((byMs) => isStillToCome(byMs, event.at - last));
      if (event.want === 'off') sent.push(event.at);
      else if (isOverdue) late.push({ sentAt: last, endedAt: event.at, isOff: false });
    }
    if (event.kind !== 'power' || event.node !== victim || event.state !== 'off') continue;
    lastOffAt = event.at;
    if (event.cause !== 'set') continue;
    const sentAt = sent.find((at) => delays.some((byMs) => isLateBy(byMs, event.at - at)));
    if (sentAt !== undefined) late.push({ sentAt, endedAt: event.at, isOff: true });
  }
  return late;
}

function isLateBy(byMs: number, tookMs: number): boolean {
  return tookMs > POWER_TIMEOUT_MS && tookMs >= byMs && tookMs <= byMs + POWER_TIMEOUT_MS;
}

/** An off that had not happened when its time was over; what was told the device then may have come in its place. */
function isStillToCome(byMs: number, sinceMs: number): boolean {
  return sinceMs > POWER_TIMEOUT_MS && sinceMs <= byMs;
}

/** A complaint that such an off explains, at its node and in its time: no read before could have told. That it is put right shows the end. */
function isExcused(violation: string, victim: string, late: readonly LateOff[]): boolean {
  const [, law = '', time = ''] = /^(P\d+) at ([\d.]+):/.exec(violation) ?? [];
  const at = Number(time);
  if (law === 'P8') {
    const isIt = violation.includes(`node-fence-${victim} ended in final, but the power is off`);
    return isIt && late.some(({ isOff, endedAt }) => isOff && at >= endedAt - ROUNDED_MS && at - endedAt <= NOTICED_MS);
  }
  const isIt = law === 'P3' && violation.includes(`${victim} was switched on before the off of`);
  return isIt && late.some(({ sentAt, endedAt }) => at >= sentAt && at <= endedAt + ROUNDED_MS);
}
