import { sameContent } from '../../../domain/canonical.ts';
import type { Plan, PlanMethod } from '../../../domain/plan.ts';
import { compile } from '../../../domain/program.ts';
import type { Parameters } from '../../../ports/agents.ts';
import type { FenceDependencies } from '../dependencies.ts';

/** What was read before that is read again: a login that has changed counts from the next attempt on. */
const KEPT_MS = 1_000;

interface Kept {
  method: PlanMethod;
  parameters: Promise<Parameters>;
  readAtMs: number;
}

/** What the first device of power-management is called with, read while its node is isolated: an off that follows at once does not wait for a Secret. */
export class NextParameters {
  readonly #dependencies: Pick<FenceDependencies, 'planner' | 'clock'>;
  readonly #kept = new Map<string, Kept>();

  constructor(dependencies: Pick<FenceDependencies, 'planner' | 'clock'>) {
    this.#dependencies = dependencies;
  }

  /** A run that isolates the node begins. */
  read(node: string, plan: Plan): void {
    const { planner, clock } = this.#dependencies;
    const [first] = compile(plan, 'power-management', 1);
    if (first?.method === undefined || plan.timing.powerManagementDelayMs > 0 || this.#kept.has(node)) return;
    const kept = { method: first.method, parameters: planner.parametersFor(node, first.method), readAtMs: clock.monotonicMs() };
    // Whoever takes it reads again.
    kept.parameters.catch(() => undefined);
    this.#kept.set(node, kept);
    clock.after(KEPT_MS, () => {
      if (this.#kept.get(node) === kept) this.#kept.delete(node);
    });
  }

  /** Once, and no failure: what is asked for after that is read then. */
  take(node: string, method: PlanMethod): Promise<Parameters> {
    const { planner, clock } = this.#dependencies;
    const kept = this.#kept.get(node);
    this.#kept.delete(node);
    const isNew = kept !== undefined && clock.monotonicMs() - kept.readAtMs <= KEPT_MS && sameContent(kept.method, method);
    return isNew ? kept.parameters.catch(() => planner.parametersFor(node, method)) : planner.parametersFor(node, method);
  }
}
