import type { JournalEntry, NodeFenceStatus } from './node-fence.ts';
import { levelsOf, STEPS } from './plan.ts';
import { compile } from './program.ts';
import type { Operation } from './program.ts';

/**
 * The operation of the frozen plan that an entry of the journal stands for. Only where nothing but the record is left to decide from: a run that a crash
 * left open, and an undo, which is looked up by its method.
 */
export function operationOf(entry: JournalEntry, { frozen, restore }: NodeFenceStatus): Operation | undefined {
  if (frozen === undefined) return undefined;
  const { plan } = frozen;
  const own = compile(plan, entry.step, entry.level, { cordoned: restore?.cordoned === true, unfences: true }).find(
    (operation) => operation.key === entry.operation,
  );
  if (own !== undefined) return own;
  // The uncordon of an undo is not the recovery's: it has to be found whatever the plan names there.
  const undo = compile({ ...plan, recovery: [] }, 'recovery', 1, { cordoned: true }).find((operation) => operation.key === entry.operation);
  if (undo !== undefined) return undo;
  const method = STEPS.flatMap((step) => levelsOf(plan, step))
    .flatMap((level) => level.methods)
    .find((candidate) => candidate.device === entry.device && candidate.plug === entry.plug && candidate.name === entry.method);
  return method === undefined ? undefined : { key: entry.operation, phase: 'on', action: entry.action, method, together: [] };
}
