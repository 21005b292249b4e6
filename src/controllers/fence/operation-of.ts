import type { JournalEntry, NodeFenceStatus } from '../../domain/node-fence.ts';
import { levelsOf, STEPS } from '../../domain/plan.ts';
import type { Plan } from '../../domain/plan.ts';
import { compile } from '../../domain/program.ts';
import type { Operation } from '../../domain/program.ts';

/** The operation of the frozen plan that an entry runs; an undo is looked up by its method. */
export function operationOf(plan: Plan, entry: JournalEntry, status: NodeFenceStatus): Operation | undefined {
  const own = compile(plan, entry.step, entry.level, status.restore?.cordoned === true).find((operation) => operation.key === entry.operation);
  if (own !== undefined) return own;
  // The uncordon of an undo is not the recovery's: it has to be found whatever the plan names there.
  const undo = compile({ ...plan, recovery: [] }, 'recovery', 1, true).find((operation) => operation.key === entry.operation);
  if (undo !== undefined) return undo;
  const method = STEPS.flatMap((step) => levelsOf(plan, step))
    .flatMap((level) => level.methods)
    .find((candidate) => candidate.device === entry.device && candidate.plug === entry.plug && candidate.name === entry.method);
  return method === undefined ? undefined : { key: entry.operation, phase: 'on', action: entry.action, method, together: [] };
}
