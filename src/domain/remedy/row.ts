import type { Threshold } from './configuration.ts';
import type { RemedyFacts, RemedyPosition, RemedyRun, RemedyState, RemedyStep } from './position.ts';

/** The facts of a threshold that has a position, with what its rows need at hand. */
export interface Placed extends RemedyFacts {
  readonly state: RemedyState;
  readonly threshold: Threshold;
  readonly position: RemedyPosition;
  /** Rows of runs only: there is one then. */
  readonly run: RemedyRun;
}

/** One line of the table that decides. */
export interface RemedyRow {
  readonly id: string;
  readonly from: string;
  readonly when: string;
  readonly does: string;
  readonly to: string;
  applies(facts: RemedyFacts): boolean;
  next(facts: Placed): RemedyStep;
}

const NO_RUN: RemedyRun = { id: '', remedy: '', kind: 'cordon', of: 0 };
const NO_STATE: RemedyState = {
  position: { threshold: '', episode: '', phase: 'waiting', attempt: 0, rung: 0, serial: 0, hasActed: false },
  sinceMs: 0,
};
const NO_THRESHOLD: Threshold = {
  id: '',
  where: '',
  conditionType: '',
  trigger: { kind: 'status', statuses: [] },
  periodMs: 0,
  clearPeriodMs: 0,
  isLatched: false,
  remedies: [],
  maxAttempts: 0,
  cooldownMs: 0,
};

/** Rows that decide without a position or a threshold do not look at them. */
export function withPlace(facts: RemedyFacts): Placed {
  const state = facts.state ?? NO_STATE;
  return { ...facts, state, threshold: facts.threshold ?? NO_THRESHOLD, position: state.position, run: state.position.run ?? NO_RUN };
}

export function placed(facts: RemedyFacts, judge: (known: Placed) => boolean): boolean {
  return facts.state !== undefined && facts.threshold !== undefined && judge(withPlace(facts));
}
