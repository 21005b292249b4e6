import { isBoundToStorage } from './health.ts';
import type { NodeFenceStatus } from './node-fence.ts';
import type { Plan } from './plan.ts';
import { provingOperation } from './program.ts';
import type { NodeFacts } from './snapshot.ts';

/** What wrote to a storage that is revoked may still run on that boot: only an off that was read back since, or another boot, opens it again. */
export function mayOpenStorage(plan: Plan, node: Pick<NodeFacts, 'bootID'> | undefined, status: NodeFenceStatus): boolean {
  if (!isBoundToStorage(node, status)) return true;
  return status.journal.some(
    (entry) =>
      entry.restart === status.restarts &&
      entry.step === 'power-management' &&
      entry.result === 'succeeded' &&
      entry.operation === provingOperation(plan, 'power-management', entry.level)?.key,
  );
}
