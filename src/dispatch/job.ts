import type { JournalEntry } from '../domain/node-fence.ts';
import type { PlanMethod, Timing } from '../domain/plan.ts';
import type { Identity, Parameters } from '../ports/agents.ts';

/** One run of a method, whose intent is written and acknowledged. */
export interface Job {
  entry: JournalEntry;
  method: PlanMethod;
  /** Methods of the same level that must read off together with this one. */
  together: readonly PlanMethod[];
  /** Every off of the level before this one is done: with `together` it proves that nothing feeds the machine. */
  lastOff: boolean;
  timing: Timing;
  identity: Identity;
  /** Whether the plan insists on a device that shows the machine's identity. */
  identityRequired: boolean;
  signal: AbortSignal;
  parametersOf(method: PlanMethod): Promise<Parameters>;
  /** Throws `AgentError` kind NotSent when the lease, a stop or a hold forbids a set that takes `deadlineMs` to begin now. Synchronous. */
  mayBegin(deadlineMs: number): void;
  /** Told the monotonic time of each set, in the turn of its send. */
  onSet(atMs: number): void;
}
