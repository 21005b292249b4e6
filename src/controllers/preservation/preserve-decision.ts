import type { PreserveValue } from './marks.ts';
import type { MachinePhase } from './snapshot.ts';

/** What is stronger than preservation. */
export type Override = 'hibernated' | 'rolling';

export type StopReason = 'terminating' | 'hibernated' | 'rolling' | 'unasked' | 'refused' | 'expired' | 'recovered';

/** `forgets`: the annotation goes too, so that the same machine is not preserved again. */
export type PreserveDecision = { kind: 'preserve' } | { kind: 'stop'; why: StopReason; forgets: boolean };

export interface Question {
  value: PreserveValue;
  phase: MachinePhase;
  expiryMs: number | undefined;
  nowMs: number;
  override: Override | undefined;
}

/** The end belongs to the time after. */
export function isExpired(expiryMs: number | undefined, nowMs: number): boolean {
  return expiryMs !== undefined && expiryMs <= nowMs;
}

function stop(why: StopReason, forgets = false): PreserveDecision {
  return { kind: 'stop', why, forgets };
}

/** The table of the preserve values, as in docs/preservation.md; the first row that applies. */
export function decidePreserve(question: Question): PreserveDecision {
  const { value, phase, override } = question;
  const isFailed = phase === 'Failed';
  if (phase === 'Terminating') return stop('terminating');
  if (override === 'hibernated') return stop('hibernated');
  if (override === 'rolling' && isFailed) return stop('rolling');
  if (value === 'false') return stop('refused');
  if (isExpired(question.expiryMs, question.nowMs)) return stop('expired', value !== 'none');
  if (value === 'none') return stop('unasked');
  if (value === 'now' || isFailed) return { kind: 'preserve' };
  return stop('recovered', value === 'automatic');
}
