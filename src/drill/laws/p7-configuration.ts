import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { levelsOf, STEPS } from '../../domain/plan.ts';
import type { Plan, Step } from '../../domain/plan.ts';
import { Verdict } from './law.ts';
import type { Law } from './law.ts';

const DONE_CONDITIONS = { isolation: 'Isolated', 'power-management': 'PoweredOff', recovery: 'Recovered' } as const satisfies Record<Step, string>;

/** P7, wrong configuration fails: a method with an error is never run against its device, and a step without a sound level is never done. */
export const wrongConfigurationFails: Law = (history) => {
  const verdict = new Verdict();
  for (const set of history.sets) {
    for (const { fence, entry } of history.intentsFor(set)) {
      const plan = fence.statuses.before(set.position)?.frozen?.plan;
      if (plan === undefined) continue;
      const isBad = badMethods(plan).has(entry.method);
      verdict.check(!isBad, set.event.at, `method ${entry.method} of ${fence.name} was run although its configuration is wrong`);
    }
  }
  for (const fence of history.fences) {
    for (const { at, value } of fence.statuses.entries) {
      for (const step of failedSteps(value))
        verdict.check(!isDone(value, step), at, `${fence.name} says that ${step} is done although its configuration is wrong`);
    }
  }
  return verdict;
};

function problemTexts(plan: Plan): string[] {
  return plan.problems.filter(({ severity }) => severity === 'error').map(({ where, message }) => `${where} ${message}`);
}

/** Methods that an error names. */
function badMethods(plan: Plan): Set<string> {
  const texts = problemTexts(plan);
  const methods = STEPS.flatMap((step) => levelsOf(plan, step)).flatMap((level) => level.methods);
  return new Set(methods.map(({ name }) => name).filter((name) => texts.some((text) => names(text, name))));
}

/** Steps that have methods, or that an error names, but no level in which every method is sound. */
function failedSteps(status: NodeFenceStatus): Step[] {
  const plan = status.frozen?.plan;
  if (plan === undefined) return [];
  const texts = problemTexts(plan);
  if (texts.length === 0) return [];
  const bad = badMethods(plan);
  return STEPS.filter((step) => {
    const levels = levelsOf(plan, step).filter(({ methods }) => methods.length > 0);
    const isNamed = texts.some((text) => names(text, step) || names(text, step.replace('-', '_')));
    if (levels.length === 0) return isNamed;
    return levels.every(({ methods }) => methods.some(({ name }) => bad.has(name)));
  });
}

function isDone(status: NodeFenceStatus, step: Step): boolean {
  return status.conditions.some((condition) => condition.type === DONE_CONDITIONS[step] && condition.status === 'True');
}

function names(text: string, word: string): boolean {
  let start = text.indexOf(word);
  while (start >= 0) {
    const around = `${text[start - 1] ?? ' '}${text[start + word.length] ?? ' '}`;
    // `fence-method-off` names the method `off`; `power-off` does not.
    const isWhole = !/[\w-]/.test(around) || (text.slice(0, start).endsWith('fence-method-') && !/[\w-]/.test(around[1] ?? ' '));
    if (isWhole) return true;
    start = text.indexOf(word, start + 1);
  }
  return false;
}
