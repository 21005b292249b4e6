import type { RemedyFacts, RemedyHold, RemedyStep } from './position.ts';
import { isUnderWay, moved, RUN_MAX_MS, useOf, useOfRun } from './position.ts';
import type { Placed, RemedyRow } from './row.ts';
import { placed } from './row.ts';

/** The hold that keeps this from beginning; a storm keeps no node from its recovery. */
export function holdOf({ holds }: RemedyFacts, isRecovery: boolean): RemedyHold | undefined {
  return holds.find(({ isPolicy }) => !(isRecovery && isPolicy));
}

const isWritten = ({ state }: RemedyFacts): boolean => state?.position.phase === 'starting';
const isRunning = ({ state }: RemedyFacts): boolean => state?.position.phase === 'running';
const isRecovery = ({ state }: RemedyFacts): boolean => state?.position.run?.of === 'recovery';

/** A remedy is for a condition that stands, a recovery for one that is over. */
function isWanted(facts: RemedyFacts): boolean {
  const isConfigured = placed(facts, ({ run, threshold }) => useOfRun(threshold, run) !== undefined);
  return isConfigured && facts.view.phase === (isRecovery(facts) ? 'absent' : 'standing');
}

function afterRun(facts: Placed, result: 'succeeded' | 'failed' | 'lost'): RemedyStep {
  const { position, run, threshold, newestPod } = facts;
  const ended = { run, result };
  if (run.of === 'recovery') {
    if (result === 'succeeded') return { position: moved(position, 'recovered', { rung: 0, hasActed: false }), ended };
    return { position: moved(position, 'handed-over', { because: 'recovery' }), ended };
  }
  // What evicts has let them go itself.
  const isCleaning = result === 'succeeded' && run.kind !== 'evict' && useOf(threshold, run.of)?.cleansResources === true;
  const cleaning = isCleaning && newestPod !== undefined ? { cleans: run.of, podsUntil: newestPod } : {};
  return { position: moved(position, 'waiting', cleaning), ended };
}

/** A fence has deadlines of its own, and what holds it may stand for longer. */
function overdueAtMs({ run, state }: Pick<Placed, 'run' | 'state'>): number {
  return run.kind === 'fence' ? Infinity : state.sinceMs + RUN_MAX_MS;
}

/** From when a run is written down until it has ended. */
export const RUN_ROWS: readonly RemedyRow[] = [
  {
    id: 'run-unknown',
    from: 'starting, running',
    when: 'nobody can tell now what became of the run',
    does: 'wait',
    to: '–',
    applies: (facts) => isUnderWay(facts.state) && facts.outcome === 'unknown',
    next: () => ({ says: 'what became of its run is not known yet' }),
  },
  {
    id: 'run-seen',
    from: 'starting',
    when: 'the run is there',
    does: 'of one that evicts: write down which pods stand there',
    to: 'running',
    applies: (facts) => isWritten(facts) && facts.outcome !== 'absent',
    next: ({ position, newestPod }) => ({
      position: { ...position, phase: 'running', hasActed: true, ...(newestPod !== undefined && { podsUntil: newestPod }) },
    }),
  },
  {
    id: 'run-withdrawn',
    from: 'starting',
    when: 'the run was not begun, and the condition does not stand any more; of a recovery: is not over any more; or it is configured no more, such as when another remedy has its number',
    does: 'nothing; its name is never used again',
    to: 'waiting',
    applies: (facts) => isWritten(facts) && !isWanted(facts),
    next: ({ position, run }) => ({ position: moved(position, 'waiting', run.of === 'recovery' ? {} : { rung: run.of - 1 }) }),
  },
  {
    id: 'run-held',
    from: 'starting',
    when: 'the run was not begun, and something holds; of a recovery: something other than a storm policy',
    does: 'say what holds',
    to: '–',
    applies: (facts) => isWritten(facts) && holdOf(facts, isRecovery(facts)) !== undefined,
    next: (facts) => ({ says: `held: ${holdOf(facts, isRecovery(facts))?.message ?? ''}` }),
  },
  {
    id: 'run-begins',
    from: 'starting',
    when: 'the run was not begun',
    does: 'begin it, under its name',
    to: '–',
    applies: isWritten,
    next: ({ run, threshold }) => {
      const use = useOfRun(threshold, run);
      return use === undefined ? {} : { actions: [{ kind: 'begin', run, use }] };
    },
  },
  {
    id: 'run-overdue',
    from: 'running',
    when: `the run has not ended after ${RUN_MAX_MS / 60_000} min; a fence has deadlines of its own`,
    does: 'end it',
    to: '–',
    applies: (facts) => isRunning(facts) && facts.outcome === 'running' && placed(facts, (found) => facts.nowMs >= overdueAtMs(found)),
    next: ({ run }) => ({ actions: [{ kind: 'cancel', run }], says: `${run.remedy} has not ended in time, and is ended` }),
  },
  {
    id: 'run-runs',
    from: 'running',
    when: 'the run has not ended',
    does: 'wait',
    to: '–',
    applies: (facts) => isRunning(facts) && facts.outcome === 'running',
    next: (facts) => ({ says: `${facts.run.remedy} runs`, dueMs: overdueAtMs(facts) }),
  },
  {
    id: 'run-succeeded',
    from: 'running',
    when: 'the run succeeded',
    does: 'count it; with `clean-resource`: write down which pods stand there',
    to: 'waiting; of a recovery: recovered',
    applies: (facts) => isRunning(facts) && facts.outcome === 'succeeded',
    next: (facts) => afterRun(facts, 'succeeded'),
  },
  {
    id: 'run-failed',
    from: 'running',
    when: 'the run failed',
    does: 'count it',
    to: 'waiting; of a recovery: handed-over',
    applies: (facts) => isRunning(facts) && facts.outcome === 'failed',
    next: (facts) => afterRun(facts, 'failed'),
  },
  {
    id: 'run-lost',
    from: 'running',
    when: 'the run was there and is gone',
    does: 'count it as failed; it is not begun again',
    to: 'waiting; of a recovery: handed-over',
    applies: (facts) => isRunning(facts) && facts.outcome === 'absent',
    next: (facts) => afterRun(facts, 'lost'),
  },
];
