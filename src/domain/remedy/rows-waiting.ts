import type { Threshold } from './configuration.ts';
import { moved, newPosition, releaseId, useOf, withoutCleaning, withRun } from './position.ts';
import type { RemedyFacts, RemedyPhase, RemedyStep } from './position.ts';
import type { Placed, RemedyRow } from './row.ts';
import { placed } from './row.ts';
import { holdOf } from './rows-run.ts';

/** When the next remedy, or the end of the pass, is due. */
function dueMs({ state, position, threshold }: Placed): number {
  if (state.position.phase === 'cooling') return state.sinceMs + threshold.cooldownMs;
  return position.rung === 0 ? state.sinceMs : state.sinceMs + (threshold.remedies[position.rung - 1]?.periodMs ?? threshold.periodMs);
}

const isIn =
  (...phases: readonly RemedyPhase[]) =>
  ({ state }: RemedyFacts): boolean =>
    phases.some((phase) => phase === state?.position.phase);
const isPassing = isIn('waiting', 'cooling');
const isDue = (facts: RemedyFacts): boolean => placed(facts, (known) => facts.nowMs >= dueMs(known));
const isLast = (facts: RemedyFacts): boolean => placed(facts, ({ position, threshold }) => position.rung >= threshold.remedies.length);
const hasAttempts = (facts: RemedyFacts): boolean => placed(facts, ({ position, threshold }) => position.attempt < threshold.maxAttempts);
const stands = ({ view }: RemedyFacts): boolean => view.phase === 'standing';
const isOver = ({ view }: Pick<RemedyFacts, 'view'>): boolean => view.phase === 'absent';
const isCleanDue = (facts: RemedyFacts): boolean =>
  isIn('waiting', 'cooling', 'handed-over')(facts) && stands(facts) && facts.state?.position.cleans !== undefined && !facts.isCleaned;

function nextRemedy({ position, threshold }: Placed): RemedyStep {
  const use = useOf(threshold, position.rung + 1);
  return use === undefined ? {} : { position: withRun(position, use, position.rung + 1) };
}

function nextAttempt({ position }: Placed): RemedyStep {
  return { position: withoutCleaning(moved(position, 'waiting', { attempt: position.attempt + 1, rung: 0 })) };
}

function toRecovery({ position, threshold }: Placed): RemedyStep {
  const { recovery } = threshold;
  const kept = withoutCleaning(position);
  if (!position.hasActed && position.attempt === 1) return { position: 'none' };
  if (!position.hasActed || recovery === undefined) return { position: moved(kept, 'recovered', { rung: 0, hasActed: false }) };
  return { position: withRun(kept, recovery, 'recovery') };
}

/** While the next remedy is waited for. */
function passDueMs(facts: Placed): number | undefined {
  return isPassing(facts) && !isDue(facts) ? dueMs(facts) : undefined;
}

function cleaning(facts: Placed): RemedyStep {
  const { presence, position, threshold } = facts;
  const due = passDueMs(facts);
  if (presence.kind === 'alive') return { actions: [{ kind: 'evict' }], says: 'its pods are evicted, under their PodDisruptionBudgets', dueMs: due };
  if (presence.kind === 'unproven') return { says: `its pods are not let go: ${presence.waitsFor}`, dueMs: due };
  const mode = useOf(threshold, position.cleans ?? 0)?.release;
  const action = { kind: 'release' as const, id: releaseId(position), ...(mode !== undefined && { mode }) };
  return { actions: [action], says: `${presence.reads}: a fence proves that, and lets its pods go by it`, dueMs: due };
}

const named = ({ id }: Threshold): string => id;

const BUSY = 'another remedy of this node is under way';
const WORDS = {
  absent: 'over',
  pending: 'matches, not yet for its period',
  standing: 'stands',
  clearing: 'reads clear, not yet for long enough',
  unsure: 'nobody can tell now',
} as const;

/** Between runs. */
export const WAITING_ROWS: readonly RemedyRow[] = [
  {
    id: 'resumed',
    from: 'handed-over',
    when: 'a person says to go on',
    does: 'begin anew',
    to: 'waiting',
    applies: (facts) => isIn('handed-over')(facts) && facts.isResumed,
    next: (facts) => ({ position: { ...newPosition(facts), hasActed: facts.position.hasActed } }),
  },
  {
    id: 'recovery-failed',
    from: 'handed-over',
    when: 'the recovery failed',
    does: 'wait for a person',
    to: '–',
    applies: (facts) => isIn('handed-over')(facts) && facts.state?.position.because === 'recovery',
    next: ({ threshold }) => ({ says: `the recovery of ${named(threshold)} failed: undo by hand what its remedies did, then nodefence resume` }),
  },
  {
    id: 'forgotten',
    from: 'recovered',
    when: 'the condition is over, and was for `cooldown`',
    does: 'forget its attempts',
    to: 'none',
    applies: (facts) =>
      isIn('recovered')(facts) && isOver(facts) && placed(facts, ({ state, threshold }) => facts.nowMs >= state.sinceMs + threshold.cooldownMs),
    next: () => ({ position: 'none' }),
  },
  {
    id: 'relapsed',
    from: 'recovered',
    when: 'the condition stands again, and attempts are left',
    does: 'count the next attempt',
    to: 'waiting',
    applies: (facts) => isIn('recovered')(facts) && stands(facts) && hasAttempts(facts),
    next: nextAttempt,
  },
  {
    id: 'relapsed-too-often',
    from: 'recovered',
    when: 'the condition stands again, and no attempt is left',
    does: 'ask a person',
    to: 'handed-over',
    applies: (facts) => isIn('recovered')(facts) && stands(facts),
    next: ({ position }) => ({ position: moved(position, 'handed-over', { because: 'attempts' }) }),
  },
  {
    id: 'watched',
    from: 'recovered',
    when: 'always',
    does: 'wait',
    to: '–',
    applies: isIn('recovered'),
    next: ({ state, threshold, view }) => ({ dueMs: isOver({ view }) ? state.sinceMs + threshold.cooldownMs : view.dueMs }),
  },
  {
    id: 'recovery-queued',
    from: 'waiting, cooling, handed-over',
    when: 'the condition is over, and another remedy of this node is under way',
    does: 'wait',
    to: '–',
    applies: (facts) => isOver(facts) && facts.isBusy,
    next: () => ({ says: BUSY }),
  },
  {
    id: 'over',
    from: 'waiting, cooling, handed-over',
    when: 'the condition is over',
    does: 'write the recovery down, if a remedy was begun',
    to: 'starting, else recovered; none where no remedy was begun',
    applies: isOver,
    next: toRecovery,
  },
  {
    id: 'not-sure',
    from: 'waiting, cooling, handed-over',
    when: 'the condition reads clear, or nobody can tell, or it matches for less than its period',
    does: 'wait',
    to: '–',
    applies: (facts) => !stands(facts),
    next: ({ view, threshold }) => ({ says: `${named(threshold)}: ${WORDS[view.phase]}`, dueMs: view.dueMs }),
  },
  {
    id: 'not-due',
    from: 'waiting, cooling',
    when: 'the period since the last remedy, or `cooldown`, is not over, and no pods are to be let go',
    does: 'wait',
    to: '–',
    applies: (facts) => isPassing(facts) && !isDue(facts) && !isCleanDue(facts),
    next: (facts) => ({ says: `waits before the next ${facts.position.phase === 'cooling' ? 'attempt' : 'remedy'}`, dueMs: dueMs(facts) }),
  },
  {
    id: 'next-attempt',
    from: 'cooling',
    when: '`cooldown` is over',
    does: 'begin anew with remedy1',
    to: 'waiting',
    applies: (facts) => isIn('cooling')(facts) && isDue(facts),
    next: nextAttempt,
  },
  {
    id: 'pass-over',
    from: 'waiting',
    when: 'the period after the last remedy is over, and attempts are left',
    does: 'wait for `cooldown`',
    to: 'cooling',
    applies: (facts) => isIn('waiting')(facts) && isDue(facts) && isLast(facts) && hasAttempts(facts),
    next: ({ position }) => ({ position: moved(position, 'cooling') }),
  },
  {
    id: 'attempts-over',
    from: 'waiting',
    when: 'the period after the last remedy is over, and no attempt is left',
    does: 'ask a person',
    to: 'handed-over',
    applies: (facts) => isIn('waiting')(facts) && isDue(facts) && isLast(facts),
    next: ({ position }) => ({ position: moved(position, 'handed-over', { because: 'attempts' }) }),
  },
  {
    id: 'held',
    from: 'waiting, cooling, handed-over',
    when: 'something holds, and the next remedy is due or pods are to be let go',
    does: 'say what holds',
    to: '–',
    applies: (facts) => holdOf(facts, false) !== undefined && ((isIn('waiting')(facts) && isDue(facts)) || isCleanDue(facts)),
    next: (facts) => ({ says: `held: ${holdOf(facts, false)?.message ?? ''}`, dueMs: passDueMs(facts) }),
  },
  {
    id: 'queued',
    from: 'waiting',
    when: 'the next remedy is due, and another one of this node is under way',
    does: 'wait',
    to: '–',
    applies: (facts) => isIn('waiting')(facts) && isDue(facts) && facts.isBusy,
    next: () => ({ says: BUSY }),
  },
  {
    id: 'next-remedy',
    from: 'waiting',
    when: 'the next remedy is due',
    does: 'write it down',
    to: 'starting',
    applies: (facts) => isIn('waiting')(facts) && isDue(facts),
    next: nextRemedy,
  },
  {
    id: 'cleaning',
    from: 'waiting, cooling, handed-over',
    when: '`clean-resource` of the last remedy is not done: pods are left that stood there when it succeeded',
    does: 'evict them while the node is alive; ask for a fence that ends in off when it is silent and its devices read off; else say what it waits for',
    to: '–',
    applies: isCleanDue,
    next: cleaning,
  },
  {
    id: 'asked',
    from: 'handed-over',
    when: 'always',
    does: 'wait for a person',
    to: '–',
    applies: isIn('handed-over'),
    next: ({ threshold }) => ({
      says: `${named(threshold)} stands after ${threshold.maxAttempts === 1 ? 'its attempt' : `${threshold.maxAttempts} attempts`}: look at the node, then nodefence resume`,
    }),
  },
];
