import { bounded } from './node-fence.ts';

/** Clock drift, at most one percent. */
export const DRIFT = 0.01;

/** How much longer a clock that is fast has to wait for what a slow one counts (ADR 41). */
export const FAST_OVER_SLOW = (1 + DRIFT) / (1 - DRIFT);

export interface TimingProblem {
  /** Number of the inequality, as docs/configuration.md lists them. */
  rule: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10;
  severity: 'error' | 'warning';
  /** Keys of the configuration that would mend it, the likeliest first. */
  keys: readonly string[];
  /** The inequality with its numbers filled in, and what to change. */
  message: string;
}

/** Takes one inequality down; `holds` false makes it a problem, and its words are made then: nearly all hold, for thousands of nodes. */
export type Demand = (
  holds: boolean,
  rule: TimingProblem['rule'],
  severity: TimingProblem['severity'],
  keys: readonly string[],
  message: () => string,
) => void;

export function collecting(problems: TimingProblem[]): Demand {
  return (holds, rule, severity, keys, message) => {
    if (!holds) problems.push({ rule, severity, keys, message: bounded(`timing rule ${rule}: ${message()}`) });
  };
}

export function seconds(ms: number): string {
  return `${Number((ms / 1000).toFixed(3))} s`;
}
