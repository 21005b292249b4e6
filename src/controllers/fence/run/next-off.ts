import { sameContent } from '../../../domain/canonical.ts';
import type { Frozen } from '../../../domain/node-fence.ts';
import type { PlanMethod } from '../../../domain/plan.ts';
import { compile } from '../../../domain/program.ts';
import type { Identity, Parameters, Reading } from '../../../ports/agents.ts';
import type { Job } from '../../../ports/jobs.ts';
import type { FenceDependencies } from '../dependencies.ts';

/** What was read before that is read again: a login that has changed counts from the next attempt on, and so does a machine. */
const KEPT_MS = 1_000;

interface Kept {
  method: PlanMethod;
  identity: Identity;
  parameters: Promise<Parameters>;
  reading: Promise<Reading | undefined>;
  readAtMs: number;
}

/** What an off begins with, as far as it was read before. */
export type Taken = Pick<Job, 'firstRead'> & { parameters: Promise<Parameters> };

/** Who is asked for: the machine that the plan was frozen for. */
export function identityOf(node: string, { nodeUID, systemUUID, providerID, addresses }: Omit<Frozen, 'plan'>): Identity {
  return { node, nodeUID, systemUUID, providerID, addresses };
}

/**
 * What the first off of power-management begins with, read while its node is isolated: the Secret, and the device under it. An off that follows at once waits for
 * neither.
 */
export class NextOff {
  readonly #dependencies: Pick<FenceDependencies, 'planner' | 'clock' | 'runner'>;
  readonly #stopping: AbortSignal;
  readonly #kept = new Map<string, Kept>();

  constructor(dependencies: Pick<FenceDependencies, 'planner' | 'clock' | 'runner'>, stopping: AbortSignal) {
    this.#dependencies = dependencies;
    this.#stopping = stopping;
  }

  /** A run that isolates the node begins. */
  read(node: string, frozen: Frozen): void {
    const { planner, clock } = this.#dependencies;
    const { plan } = frozen;
    const [first] = compile(plan, 'power-management', 1);
    if (first?.method === undefined || plan.timing.powerManagementDelayMs > 0 || this.#kept.has(node)) return;
    const { method } = first;
    const identity = identityOf(node, frozen);
    const parameters = planner.parametersFor(node, method);
    const reading = parameters.then(
      (known) => this.#look(method, identity, known, plan.timing.setDeadlineMs),
      // Whoever takes them reads them again, and the device after that.
      () => undefined,
    );
    reading.catch(() => undefined);
    const kept = { method, identity, parameters, reading, readAtMs: clock.monotonicMs() };
    this.#kept.set(node, kept);
    clock.after(KEPT_MS, () => {
      if (this.#kept.get(node) === kept) this.#kept.delete(node);
    });
  }

  /** Once, and no failure of the API server: what is asked for after that is read then. A device that failed has failed: it was asked just now. */
  take(node: string, method: PlanMethod): Taken {
    const { planner } = this.#dependencies;
    const kept = this.#kept.get(node);
    this.#kept.delete(node);
    if (kept === undefined || !this.#isNew(kept) || !sameContent(kept.method, method)) return { parameters: planner.parametersFor(node, method) };
    return {
      parameters: kept.parameters.catch(() => planner.parametersFor(node, method)),
      // Whether it is new is looked at when it is used: its intent is written before that, and the process may stand still.
      firstRead: (identity) => (this.#isNew(kept) && sameContent(kept.identity, identity) ? kept.reading : undefined),
    };
  }

  #isNew({ readAtMs }: Kept): boolean {
    return this.#dependencies.clock.monotonicMs() - readAtMs <= KEPT_MS;
  }

  #look(method: PlanMethod, identity: Identity, parameters: Parameters, deadlineMs: number): Promise<Reading | undefined> | undefined {
    const parametersOf = (): Promise<Parameters> => Promise.resolve(parameters);
    return this.#dependencies.runner.look?.({ method, identity, deadlineMs, signal: this.#stopping, parametersOf });
  }
}
