import { mayHaveLeft, offBegan } from '../../../domain/journal.ts';
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

/** They mark the Node, or take that back, and do nothing to its machine. */
const HARMLESS_AGENTS: ReadonlySet<string> = new Set(['cordon', 'uncordon']);

/**
 * The same of a run by which a machine may go down or be shut out too: a program, an order to its daemon, the end of its grants. What has been begun already is
 * carried through.
 */
export function isFirstStrike(entry: JournalEntry, status: NodeFenceStatus): boolean {
  if (isFirstCut(entry, status)) return true;
  const isSent = ({ id, operation, restart, ...other }: JournalEntry): boolean =>
    id !== entry.id && operation === entry.operation && restart === entry.restart && mayHaveLeft(other);
  const isStrike = entry.action === 'run' && entry.step !== 'recovery' && !HARMLESS_AGENTS.has(entry.agent);
  return isStrike && !offBegan(status) && !status.journal.some(isSent);
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
