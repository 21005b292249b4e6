import { observeConditions, viewOf } from '../conditions.ts';
import type { ObservedConditions, ObservedNode } from '../conditions.ts';
import type { Threshold } from '../configuration.ts';

export const WALL_MS = 1_800_000_000_000;
/** What is seen so many seconds after the beginning: a status, or more. Its heartbeat is fresh unless it is given. */
export type Seen =
  | string
  | { status?: string; boot?: string; heartbeatS?: number; isSilent?: boolean; isChecked?: boolean; freshS?: number; skewS?: number };

function nodeOf(seen: Seen, seconds: number, type: string): ObservedNode {
  const given = typeof seen === 'string' ? { status: seen } : seen;
  const heartbeatMs = WALL_MS + 1000 * (('heartbeatS' in given ? given.heartbeatS : undefined) ?? seconds);
  return {
    bootID: ('boot' in given ? given.boot : undefined) ?? 'boot-1',
    isSilent: 'isSilent' in given && given.isSilent,
    conditions: given.status === undefined || given.status === '-' ? [] : [{ type, status: given.status, heartbeatMs }],
    activelyClear: new Set('isChecked' in given && given.isChecked ? [type] : []),
  };
}

/** What is thought of it at each of these times. */
export function playConditions(
  threshold: Threshold,
  story: readonly (readonly [seconds: number, seen: Seen])[],
  begin?: ObservedConditions,
): { phases: string[]; observed: ObservedConditions } {
  let observed = begin;
  const phases: string[] = [];
  for (const [seconds, seen] of story) {
    const skewMs = typeof seen === 'object' ? 1000 * (seen.skewS ?? 0) : 0;
    const freshSinceMs = typeof seen === 'object' && seen.freshS !== undefined ? 1000 * seen.freshS : undefined;
    const now = { monotonicMs: 1000 * seconds, wallMs: WALL_MS + 1000 * seconds + skewMs, freshSinceMs };
    observed = observeConditions(observed, nodeOf(seen, seconds, threshold.conditionType), [threshold], now);
    phases.push(viewOf(observed, threshold, 1000 * seconds).phase);
  }
  return { phases, observed: observed ?? { standings: {} } };
}
