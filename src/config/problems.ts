import { bounded } from '../domain/node-fence.ts';
import type { PlanProblem, Step } from '../domain/plan.ts';

const PROBLEMS_MAX = 64;
const TEXT_MAX = 1000;

/** Collects what is wrong with a configuration; what the schema of a NodeFence does not hold is counted, errors first. */
export class Problems {
  readonly #found: PlanProblem[] = [];
  readonly #step: Step | undefined;

  /** `step`: the step that the problems of this list spoil; undefined: every step. */
  constructor(step?: Step) {
    this.#step = step;
  }

  error(where: string, message: string, step: Step | undefined = this.#step): void {
    this.#add('error', where, message, step);
  }

  warning(where: string, message: string, step: Step | undefined = this.#step): void {
    this.#add('warning', where, message, step);
  }

  #add(severity: PlanProblem['severity'], where: string, message: string, step: Step | undefined): void {
    const problem: PlanProblem = {
      severity,
      where: bounded(where, TEXT_MAX),
      message: bounded(message, TEXT_MAX),
      ...(step !== undefined && { step }),
    };
    const isKnown = this.#found.some((other) => other.where === problem.where && other.message === problem.message && other.step === problem.step);
    if (!isKnown) this.#found.push(problem);
  }

  /** Is this step spoiled by an error? */
  hasError(step: Step): boolean {
    return this.#found.some((problem) => problem.severity === 'error' && (problem.step === undefined || problem.step === step));
  }

  take(others: readonly PlanProblem[]): void {
    for (const { severity, where, message, step } of others) this.#add(severity, where, message, step);
  }

  /** Those of a list without steps of its own: each error spoils these steps, a warning none. */
  takeFor(steps: readonly Step[], others: readonly PlanProblem[]): void {
    for (const { severity, where, message } of others) {
      if (severity === 'warning') this.#add(severity, where, message, undefined);
      else for (const step of steps) this.#add(severity, where, message, step);
    }
  }

  all(): PlanProblem[] {
    const sorted = [...this.#found.filter(({ severity }) => severity === 'error'), ...this.#found.filter(({ severity }) => severity === 'warning')];
    if (sorted.length <= PROBLEMS_MAX) return sorted;
    const more = `${sorted.length - PROBLEMS_MAX + 1} more problems: mend these first`;
    return [...sorted.slice(0, PROBLEMS_MAX - 1), { severity: 'warning', where: 'configuration', message: more }];
  }
}
