import type { RemedyDecision } from '../../domain/remedy/decide.ts';
import type { RemedyAction } from '../../domain/remedy/position.ts';
import type { Claimant } from '../shared/claims/claim.ts';
import type { Observation } from './observe.ts';
import type { RunContext } from './runs/run-kind.ts';

/** One write each. */
export type Action =
  /** What was decided is written down; nothing else is done in this pass. */
  | { kind: 'write' }
  | { kind: 'act'; threshold: string; action: RemedyAction }
  /** What is left of a run that does not run by itself. */
  | { kind: 'proceed'; context: RunContext }
  /** A run that may still act where it must not. */
  | { kind: 'end'; context: RunContext }
  /** On the Node: the pod of the last remedy. */
  | { kind: 'annotate'; pod: string }
  /** A fence that a remedy asked for which is not there any more. */
  | { kind: 'withdraw'; requester: Claimant };

/** What a person must know, by row. */
const PROBLEM_ROWS: ReadonlySet<string> = new Set([
  'run-held',
  'held',
  'asked',
  'recovery-failed',
  'cleaning',
  'run-overdue',
  'unread',
  'unconfigured-run',
  'unconfigured',
  'queued',
  'recovery-queued',
]);
/** Nothing wakes what waits for these. */
export const POLL_MS = 5_000;
const POLLED_ROWS: ReadonlySet<string> = new Set([
  'run-held',
  'held',
  'cleaning',
  'run-unknown',
  'run-runs',
  'run-begins',
  'run-overdue',
  'fence-ends-run',
  'fence-run-unknown',
  'unconfigured-run',
]);

/** What is said of a threshold: the words of the decision, and what is known of its run. */
export function messageOf(decision: RemedyDecision, observation: Observation): string | undefined {
  const { says, row, state, threshold } = decision;
  const { seen, leftMessages } = observation;
  const run = state?.position.run;
  const of = run === undefined ? undefined : seen.get(run.id)?.message;
  const held = heldBack(decision, observation);
  const more = held !== undefined ? `held: ${held}` : row === 'cleaning' ? leftMessages.get(threshold) : row.startsWith('run-') ? of : undefined;
  return says === undefined ? undefined : [says, more].filter((part) => part !== undefined && part !== '').join(': ');
}

/** What keeps a run that does not run by itself from going on: a person, never a policy, for what has begun is counted among what it holds. */
export function heldBack({ state, row }: RemedyDecision, { holds }: Pick<Observation, 'holds'>): string | undefined {
  if (row !== 'run-runs' || state?.position.run?.kind !== 'evict') return undefined;
  return holds.find(({ isPolicy }) => !isPolicy)?.message;
}

export function problemsOf(node: string, observation: Observation): string[] {
  return observation.decisions.flatMap((decision) => {
    const run = decision.row === 'run-runs' ? observation.seen.get(decision.state?.position.run?.id ?? '') : undefined;
    const message =
      PROBLEM_ROWS.has(decision.row) || run?.isKept === true || heldBack(decision, observation) !== undefined
        ? messageOf(decision, observation)
        : undefined;
    if (message === undefined) return [];
    return [`${node}: ${message.includes(decision.threshold) ? message : `${decision.threshold}: ${message}`}`];
  });
}

/** Until it is decided again although nothing has changed; Infinity: only a change matters. */
export function dueInMs(decisions: readonly RemedyDecision[], nowMs: number): number {
  return Math.min(
    ...decisions.map(({ row, dueMs = Infinity }) => Math.min(POLLED_ROWS.has(row) ? POLL_MS : Infinity, Math.max(0, dueMs - nowMs))),
    Infinity,
  );
}
