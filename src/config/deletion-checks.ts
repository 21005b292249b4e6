import { keeperOf } from '../domain/instance-keepers.ts';
import type { Plan } from '../domain/plan.ts';
import type { NodeFacts } from './configuration.ts';
import type { ResolvedLevel, ResolvedSteps } from './plan-checks.ts';
import type { Problems } from './problems.ts';

/** What is wrong with a plan that deletes the node's machine, and what a fence would refuse to delete: told before the node fails. */
export function checkDeletions(
  { labels, annotations }: NodeFacts,
  steps: ResolvedSteps,
  { release }: Pick<Plan, 'release'>,
  problems: Problems,
): void {
  const keeper = keeperOf({ labels, annotations });
  for (const level of steps['power-management']) {
    checkLevel(level, problems);
    for (const { name, where } of level.methods.filter(({ action }) => action === 'delete')) {
      if (release === 'none')
        problems.error(where, `${name} deletes the machine, and release=none keeps its workload on it: choose one of the two`, 'power-management');
      if (keeper !== undefined) problems.warning(where, `${name} switches the node off and then would not delete it: ${keeper}`, 'power-management');
    }
  }
}

function checkLevel({ level, methods }: ResolvedLevel, problems: Problems): void {
  const [first, ...others] = methods.filter(({ action }) => action === 'delete');
  if (first === undefined) return;
  const message = (text: string): string => `level ${level}: ${text}`;
  for (const { name, where } of others)
    problems.error(where, message(`${first.name} and ${name} both delete: a node is one machine`), 'power-management');
  for (const { name, where } of methods.filter(({ kind, action }) => kind === 'power' && (action === 'on' || action === 'reboot')))
    problems.error(where, message(`${name} switches on, and ${first.name} deletes: write one of them as a level of its own`), 'power-management');
}
