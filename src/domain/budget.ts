import { unrecovered } from './incident-record.ts';
import type { FenceRecord } from './incident-record.ts';
import type { Plan } from './plan.ts';
import type { Snapshot, ActiveHold } from './snapshot.ts';

export const DEFAULT_MAX_FENCES_PER_DAY = 3;
const DAY_MS = 86_400_000;
/** Incidents in a row without recovery after which only a person lets the node be fenced again. */
const BREAKER_AFTER = 2;

/** `endsInMs`: milliseconds from now after which time alone may end it; absent: only a person does. */
export interface BudgetHold extends Omit<ActiveHold, 'untilMs'> {
  endsInMs?: number;
}

/**
 * Holds a fence that has not begun to act: the node was fenced too often within a day, or in vain twice in a row (`max_fences_per_day`). A cordon alone is
 * no fence: neither a request that was withdrawn before the off nor a flap keeps the node from being fenced when it fails. Its stamps are our own; one that lies
 * in the future, after a clock was set back, counts.
 */
export function budgetHold(record: FenceRecord, incident: number, plan: Plan, wallMs: number): BudgetHold | undefined {
  const earlier = record.incidents.filter((entry) => entry.incident < incident);
  const inVain = unrecovered({ ...record, incidents: earlier });
  if (inVain.length >= BREAKER_AFTER) {
    const numbers = inVain.map((entry) => entry.incident).join(', ');
    const message = `incidents ${numbers} of this node ended without recovery; look at the machine, then: nodefence resume`;
    return { reason: 'breaker', policy: 'breaker', message };
  }
  const maximum = plan.maxFencesPerDay ?? DEFAULT_MAX_FENCES_PER_DAY;
  const resumedAfter = record.resumedAfter ?? 0;
  const ages = earlier
    .filter((entry) => entry.incident > resumedAfter && entry.outcome !== 'untouched' && entry.cordonedOnly !== true)
    .map((entry) => wallMs - Date.parse(entry.startedAt))
    .filter((ageMs) => ageMs < DAY_MS)
    .sort((left, right) => left - right);
  const oldest = ages[maximum - 1];
  if (oldest === undefined) return undefined;
  const message = `fenced ${ages.length} times within a day, max_fences_per_day is ${maximum}; nodefence resume lets it be fenced before that is over`;
  return { reason: 'fences-per-day', policy: 'max-fences-per-day', message, endsInMs: DAY_MS - oldest };
}

/** The snapshot with what the node's own record holds against a fence that has not begun to act. */
export function withBudget(snapshot: Snapshot): { snapshot: Snapshot; endsAtMs?: number } {
  const { record, fence, plan, wall, nowMs } = snapshot;
  const status = fence?.status;
  if (record === undefined || status?.state !== 'new' || status.restarts > 0 || status.journal.length > 0) return { snapshot };
  const hold = budgetHold(record, status.incident, plan, Date.parse(wall));
  if (hold === undefined) return { snapshot };
  const { endsInMs, ...standing } = hold;
  const timed = endsInMs === undefined ? standing : { ...standing, untilMs: nowMs + endsInMs };
  return { snapshot: { ...snapshot, holds: [...snapshot.holds, timed] }, ...(endsInMs === undefined ? {} : { endsAtMs: nowMs + endsInMs }) };
}
