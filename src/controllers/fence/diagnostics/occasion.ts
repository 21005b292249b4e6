import { offBegan } from '../../../domain/journal.ts';
import type { JournalEntry, NodeFenceStatus } from '../../../domain/node-fence.ts';
import type { Plan, PlanMethod } from '../../../domain/plan.ts';

/** Whose device shows what there is to see of the machine: the first that could switch it off. */
export function showingMethod(plan: Plan): PlanMethod | undefined {
  return plan.powerManagement.flatMap(({ methods }) => methods).find(({ kind }) => kind === 'power');
}

/** Nothing of this restart has cut the machine off yet; the entry itself is in the journal already. */
export function isFirstCut(entry: JournalEntry, status: NodeFenceStatus): boolean {
  if (entry.action !== 'off' && entry.action !== 'diag') return false;
  return !offBegan({ ...status, journal: status.journal.filter(({ id }) => id !== entry.id) });
}

/** Stands for a run that only reads: nothing of it is ever written. */
export function stateReadEntry(method: PlanMethod, status: NodeFenceStatus, startedAt: string): JournalEntry {
  const { agent, device, plug, name } = method;
  return {
    id: `read-${status.incident}`,
    step: 'power-management',
    level: status.level,
    operation: 'read',
    method: name,
    agent,
    device,
    plug,
    action: 'confirm',
    attempt: 1,
    restart: status.restarts,
    runner: 'in-process',
    epoch: status.epoch,
    startedAt,
    deadlineMs: 0,
  };
}
