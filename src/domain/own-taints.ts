import { NEVER_BEGAN } from './node-fence.ts';
import type { JournalEntry } from './node-fence.ts';
import type { Plan, PlanMethod } from './plan.ts';

type Steps = Pick<Plan, 'isolation' | 'powerManagement' | 'recovery'>;

/** What takes back, of each taint that a method of the plan sets, what no method of recovery does: nobody else would, and no pod came to the node any more (P8). */
export function undoneTaints({ isolation, powerManagement, recovery }: Steps): PlanMethod[] {
  const taking = new Set(recovery.flatMap(({ methods }) => methods.filter((method) => isTaint(method) && !sets(method)).map(slotOf)));
  const setting = [...isolation, ...powerManagement].flatMap(({ methods }) => methods.filter((method) => isTaint(method) && sets(method)));
  const bySlot = new Map(setting.filter((method) => !taking.has(slotOf(method))).map((method) => [slotOf(method), method]));
  return [...bySlot.values()].map(takenBackBy);
}

/** Of a NodeFence that is deleted: those that it may have set, and has not taken back. */
export function standingTaints({ isolation, powerManagement }: Steps, journal: readonly JournalEntry[]): PlanMethod[] {
  return undoneTaints({ isolation, powerManagement, recovery: [] }).filter(({ name }) => {
    const set = journal.findLastIndex(({ agent, method, result }) => agent === 'taint' && `undo-${method}` === name && !NEVER_BEGAN.has(result));
    return set > journal.findLastIndex(({ operation, result }) => operation === `run:${name}` && (result === 'succeeded' || result === 'found-done'));
  });
}

function takenBackBy(method: PlanMethod): PlanMethod {
  return { ...method, name: `undo-${method.name}`, parameters: { ...method.parameters, state: 'absent' } };
}

function isTaint({ agent, action }: PlanMethod): boolean {
  return agent === 'taint' && action === 'run';
}

function sets({ parameters }: PlanMethod): boolean {
  return parameters['state'] !== 'absent';
}

/** Absent parameters are the agent's defaults, alike in both. */
function slotOf({ parameters: { key = '', value = '', effect = '' } }: PlanMethod): string {
  return JSON.stringify([key, value, effect]);
}
