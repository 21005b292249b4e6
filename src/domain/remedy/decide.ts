import { restoredConditions, persistedConditions, viewOf } from './conditions.ts';
import type { ObservedConditions, PersistedConditions } from './conditions.ts';
import type { Threshold } from './configuration.ts';
import { isUnderWay } from './position.ts';
import type { RemedyFacts, RemedyPosition, RemedyRun, RemedyState, RemedyStep, RunOutcome } from './position.ts';
import { withPlace } from './row.ts';
import { REMEDY_ROWS } from './rows.ts';

/** What is decided about one threshold of one node. */
export interface RemedyDecision extends Omit<RemedyStep, 'position'> {
  readonly threshold: string;
  /** Of the row that applied. */
  readonly row: string;
  readonly state: RemedyState | undefined;
  /** It must be written down before anything else is done for the node. There are no actions then. */
  readonly isChanged: boolean;
}

export function decideRemedy(facts: RemedyFacts): RemedyDecision {
  const row = REMEDY_ROWS.find((candidate) => candidate.applies(facts));
  if (row === undefined) throw new Error('no row of remedies applies');
  const { position, ...step } = row.next(withPlace(facts));
  const threshold = facts.threshold?.id ?? facts.state?.position.threshold ?? '';
  if (position === undefined) return { ...step, threshold, row: row.id, state: facts.state, isChanged: false };
  const state = position === 'none' ? undefined : { position, sinceMs: facts.nowMs };
  return { ...step, threshold, row: row.id, state, isChanged: true };
}

/** Everything that one decision about one node may look at. */
export interface NodeRemedyFacts extends Pick<RemedyFacts, 'nowMs' | 'isIncomplete' | 'holds' | 'fence' | 'presence' | 'bootID' | 'uuid'> {
  /** Those that act on it (`remediesFor`). */
  readonly thresholds: readonly Threshold[];
  readonly observed: ObservedConditions;
  /** By threshold. */
  readonly states: ReadonlyMap<string, RemedyState>;
  readonly outcomeOf: (run: RemedyRun) => RunOutcome;
  readonly newestPodOf: (run: RemedyRun) => string | undefined;
  /** Thresholds whose `clean-resource` has nothing left to do. */
  readonly cleaned: ReadonlySet<string>;
  /** Thresholds of which a person said to go on. */
  readonly resumed: ReadonlySet<string>;
}

/** One remedy of a node at a time, in the order in which they are configured. */
export function decideRemedies(node: NodeRemedyFacts): RemedyDecision[] {
  const { thresholds, observed, outcomeOf, newestPodOf, cleaned, resumed, uuid, ...common } = node;
  const states = new Map(node.states);
  const ids = [...new Set([...thresholds.map(({ id }) => id), ...states.keys()])];
  return ids.map((id, index) => {
    const threshold = thresholds.find((one) => one.id === id);
    const state = states.get(id);
    const run = state?.position.run;
    const decision = decideRemedy({
      ...common,
      threshold,
      view: threshold === undefined ? { phase: 'unsure' } : viewOf(observed, threshold, node.nowMs),
      state,
      outcome: run === undefined ? 'absent' : outcomeOf(run),
      newestPod: run === undefined ? undefined : newestPodOf(run),
      isCleaned: cleaned.has(id),
      isBusy: [...states].some(([other, one]) => other !== id && isUnderWay(one)),
      isResumed: resumed.has(id),
      uuid: `${uuid}-${index}`,
    });
    if (decision.state === undefined) states.delete(id);
    else states.set(id, decision.state);
    return decision;
  });
}

/** What is written down of one node; nothing where nothing is remembered. */
export interface PersistedRemedies {
  readonly conditions: PersistedConditions;
  readonly positions: readonly RemedyPosition[];
}

export function persistedRemedies(observed: ObservedConditions, states: ReadonlyMap<string, RemedyState>): PersistedRemedies {
  return { conditions: persistedConditions(observed), positions: [...states.values()].map(({ position }) => position) };
}

/** A new leader goes on from the same positions, and waits each wait anew. What has a position is over only when it was seen to be. */
export function restoredRemedies(
  { conditions, positions }: PersistedRemedies,
  now: { monotonicMs: number; wallMs: number },
): {
  observed: ObservedConditions;
  states: ReadonlyMap<string, RemedyState>;
} {
  const known = new Set(conditions.tripped.map(({ threshold }) => threshold));
  const missing = positions.filter(({ phase, threshold }) => phase !== 'recovered' && !known.has(threshold));
  const tripped = [...conditions.tripped, ...missing.map(({ threshold }) => ({ threshold, sinceWallMs: now.wallMs }))];
  const states = positions.map((position): [string, RemedyState] => [position.threshold, { position, sinceMs: now.monotonicMs }]);
  return { observed: restoredConditions({ ...conditions, tripped }), states: new Map(states) };
}
