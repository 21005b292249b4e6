import type { RemedyDecision } from '../../domain/remedy/decide.ts';
import type { RemedyState } from '../../domain/remedy/position.ts';
import type { RemedyRunRecord } from '../../ports/remedies.ts';

export interface RemedyEvent {
  type: 'Normal' | 'Warning';
  reason: 'ConditionStands' | 'RemedySucceeded' | 'RemedyFailed' | 'ConditionOver' | 'PersonAsked';
  message: string;
}

/** What is told of a position of this node that was written, once. `record`: of the run that ended by it. */
export function eventsOf(
  node: string,
  decision: RemedyDecision,
  before: RemedyState | undefined,
  record: RemedyRunRecord | undefined,
): RemedyEvent[] {
  const { threshold, row, state } = decision;
  const events: RemedyEvent[] = [];
  if (row === 'noticed')
    events.push({ type: 'Warning', reason: 'ConditionStands', message: `${threshold} has stood for its period: its remedies follow.` });
  if (record !== undefined) events.push(endOf(record));
  const phase = state?.position.phase;
  if (phase === before?.position.phase) return events;
  if (phase === 'handed-over') {
    const why = state?.position.because === 'recovery' ? `the recovery of ${threshold} failed` : `${threshold} stands after the last attempt`;
    events.push({ type: 'Warning', reason: 'PersonAsked', message: `${why}: look at the node, then nodefence resume ${node}.` });
  }
  if (phase === 'recovered') events.push({ type: 'Normal', reason: 'ConditionOver', message: `${threshold} is over.` });
  return events;
}

function endOf({ threshold, remedy, result, message, pod }: RemedyRunRecord): RemedyEvent {
  const of = `${remedy} for ${threshold}${pod === undefined ? '' : ` (pod ${pod})`}`;
  // The log of its pod stands in the record, not in an Event.
  const why = message?.split('\n', 1)[0];
  if (result === 'succeeded')
    return { type: 'Normal', reason: 'RemedySucceeded', message: `${of} has succeeded${pod === undefined && why !== undefined ? `: ${why}` : ''}.` };
  const words = result === 'lost' ? 'is gone, and counts as failed' : 'has failed';
  return { type: 'Warning', reason: 'RemedyFailed', message: `${of} ${words}${why === undefined || why === '' ? '' : `: ${why}`}` };
}
