import type { PreserveValue } from './marks.ts';
import type { MachinePhase, PreservedCondition } from './snapshot.ts';

/** MCM's words, dots included: others read them. */
const BY_MCM = 'Preserved by MCM.';
const BY_USER = 'Preserved by user.';
const STOPPED = 'Preservation stopped.';
const DRAINED = 'Preserved node drained successfully. ';
const NOT_DRAINED = 'Preserved node could not be drained. ';

/** RFC 3339 in whole seconds, as Kubernetes writes it. */
export function timeText(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** What the condition remembers of a drain. */
export function reportsDrained(condition: Pick<PreservedCondition, 'message'> | undefined): boolean {
  return condition?.message.startsWith(DRAINED.trim()) === true;
}

export type DrainOutcome = 'drained' | 'failed' | 'pending';

/** What the condition `Preserved` must say; undefined while the drain is not over: it says nothing before it knows. `stale`: what it says is of an earlier failure. */
export function preservedCondition(
  phase: MachinePhase,
  value: PreserveValue,
  drain: DrainOutcome | 'stale',
  expiryText: string,
): PreservedCondition | undefined {
  const reason = value === 'automatic' ? BY_MCM : BY_USER;
  const until = `Machine preserved until ${expiryText}.`;
  if (phase !== 'Failed' || drain === 'stale') return { status: 'True', reason, message: until };
  if (drain === 'pending') return undefined;
  if (drain === 'failed') return { status: 'False', reason, message: NOT_DRAINED + until };
  return { status: 'True', reason, message: DRAINED + until };
}

export function stoppedCondition(): PreservedCondition {
  return { status: 'False', reason: STOPPED, message: '' };
}

export function isSameCondition(one: PreservedCondition | undefined, other: PreservedCondition): boolean {
  return one?.status === other.status && one.reason === other.reason && one.message === other.message;
}

/** Stands there anything that says that the node is preserved? */
export function claimsPreserved(condition: PreservedCondition | undefined): boolean {
  return condition !== undefined && condition.reason !== STOPPED;
}

/** Read in observe mode, where the Machines can not be seen: whom MCM names, and until when. */
export function readCondition(condition: PreservedCondition | undefined): { cause: 'user' | 'automatic'; expiryMs?: number } | undefined {
  if (condition === undefined || (condition.reason !== BY_MCM && condition.reason !== BY_USER)) return undefined;
  const cause = condition.reason === BY_MCM ? 'automatic' : 'user';
  const [, text = ''] = /preserved until (.+?)\.?$/.exec(condition.message) ?? [];
  const expiryMs = Date.parse(text.replace(/^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.\d+)? \+0000 UTC.*$/, '$1T$2Z'));
  return Number.isNaN(expiryMs) ? { cause } : { cause, expiryMs };
}
