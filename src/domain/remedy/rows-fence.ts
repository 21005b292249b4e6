import { isOfEpisode, isUnderWay, moved, withoutCleaning } from './position.ts';
import type { RemedyFacts, RemedyStep } from './position.ts';
import type { Placed, RemedyRow } from './row.ts';
import { placed } from './row.ts';

const isFenced = ({ state }: RemedyFacts): boolean => state?.position.phase === 'fenced';

/** A fence that this episode asked for is its own, also when its run is over: what was isolated stays so. */
function isTakenOver({ state, fence }: RemedyFacts): boolean {
  return state !== undefined && fence !== undefined && !isOfEpisode(fence.byRun, state.position);
}

function isAnotherBoot({ state, bootID }: RemedyFacts): boolean {
  const before = state?.position.fenced?.bootID;
  return before !== undefined && bootID !== undefined && bootID !== before;
}

const wasPassing = ({ state }: RemedyFacts): boolean => !['recovered', 'handed-over', 'cooling'].includes(state?.position.fenced?.from ?? 'waiting');

function takeOver({ position, outcome, bootID }: Placed): RemedyStep {
  const fenced = { from: position.phase, ...(bootID !== undefined && { bootID }) };
  const { run, ...kept } = position;
  if (run === undefined) return { position: { ...position, phase: 'fenced', fenced } };
  // What was never begun is not left out when the remedies go on.
  const isNotBegun = position.phase === 'starting' && outcome === 'absent';
  if (isNotBegun) return { position: { ...kept, phase: 'fenced', fenced, ...(run.of !== 'recovery' && { rung: run.of - 1 }) } };
  return { position: { ...position, phase: 'fenced', fenced, hasActed: true } };
}

/** A fence takes over from remedies, and nobody configures some of them away while they run. */
export const FENCE_ROWS: readonly RemedyRow[] = [
  {
    id: 'fence-takes-over',
    from: 'any but fenced',
    when: 'a fence of the node is open that this remedy did not ask for',
    does: 'nothing',
    to: 'fenced',
    applies: (facts) => isTakenOver(facts) && !isFenced(facts),
    next: takeOver,
  },
  {
    id: 'fence-ends-run',
    from: 'fenced',
    when: 'its run has not ended',
    does: 'end it',
    to: '–',
    applies: (facts) => isFenced(facts) && isUnderWay(facts.state) && facts.outcome === 'running',
    next: ({ run }) => ({ actions: [{ kind: 'cancel', run }], says: `${run.remedy} is ended: a fence of the node took over` }),
  },
  {
    id: 'fence-run-unknown',
    from: 'fenced',
    when: 'nobody can tell now what became of its run',
    does: 'wait',
    to: '–',
    applies: (facts) => isFenced(facts) && isUnderWay(facts.state) && facts.outcome === 'unknown',
    next: () => ({ says: 'what became of its run is not known yet' }),
  },
  {
    id: 'fence-open',
    from: 'fenced',
    when: 'the fence is open',
    does: 'wait',
    to: '–',
    applies: (facts) => isFenced(facts) && facts.fence !== undefined,
    next: () => ({ says: 'a fence of the node took over' }),
  },
  {
    id: 'fence-over-before',
    from: 'fenced',
    when: 'the fence is over; it took over from recovered, cooling or handed-over',
    does: 'as before it',
    to: 'recovered, cooling or handed-over',
    applies: (facts) => isFenced(facts) && !wasPassing(facts),
    next: ({ position: { fenced, ...position } }) => ({ position: { ...position, phase: fenced?.from ?? 'handed-over' } }),
  },
  {
    id: 'fence-over-last',
    from: 'fenced',
    when: 'the fence is over, the node shows another boot, and no attempt is left',
    does: 'ask a person',
    to: 'handed-over',
    applies: (facts) =>
      isFenced(facts) &&
      isAnotherBoot(facts) &&
      placed(facts, ({ position, threshold }) => position.rung > 0 && position.attempt >= threshold.maxAttempts),
    next: ({ position }) => ({ position: withoutCleaning(moved(position, 'handed-over', { because: 'attempts' })) }),
  },
  {
    id: 'fence-over-new-boot',
    from: 'fenced',
    when: 'the fence is over, and the node shows another boot',
    does: 'begin anew with remedy1; a pass that had begun counts as an attempt',
    to: 'waiting',
    applies: (facts) => isFenced(facts) && isAnotherBoot(facts),
    next: ({ position }) => ({
      position: withoutCleaning(moved(position, 'waiting', { attempt: position.attempt + (position.rung > 0 ? 1 : 0), rung: 0 })),
    }),
  },
  {
    id: 'fence-over-same-boot',
    from: 'fenced',
    when: 'the fence is over, and the node shows the same boot or none',
    does: 'go on after the last remedy, whose period counts anew',
    to: 'waiting',
    applies: isFenced,
    next: ({ position }) => ({ position: moved(position, 'waiting') }),
  },
  {
    id: 'unread',
    from: 'any',
    when: 'its threshold is missing, and some Configuration has an error',
    does: 'wait: nobody can tell whether it is configured no more',
    to: '–',
    applies: ({ state, threshold, isIncomplete }) => state !== undefined && threshold === undefined && isIncomplete === true,
    next: () => ({ says: 'nothing is done: its Configuration is missing, and one that has an error is not read; mend that one' }),
  },
  {
    id: 'unconfigured-run',
    from: 'starting, running',
    when: 'its threshold is configured no more, and its run has not ended',
    does: 'wait for its end',
    to: '–',
    applies: ({ state, threshold, outcome }) =>
      state !== undefined && threshold === undefined && isUnderWay(state) && (outcome === 'running' || outcome === 'unknown'),
    next: ({ run }) => ({ says: `${run.remedy} runs, and its threshold is configured no more` }),
  },
  {
    id: 'unconfigured',
    from: 'any',
    when: 'its threshold is configured no more',
    does: 'forget it; what its remedies did stays',
    to: 'none',
    applies: ({ state, threshold }) => state !== undefined && threshold === undefined,
    next: ({ position: { hasActed } }) => ({
      position: 'none' as const,
      ...(hasActed && { says: 'its threshold is configured no more: undo by hand what its remedies did' }),
    }),
  },
];
