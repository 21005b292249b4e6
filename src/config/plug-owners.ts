import type { Step } from '../domain/plan.ts';
import { STEPS } from '../domain/plan.ts';
import type { ResolvedSteps } from './plan-checks.ts';
import { plugKey } from './plan-checks.ts';
import type { Problems } from './problems.ts';

/** Plug → the nodes whose plans switch it, and where each says so. */
export type PlugOwners = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The plugs that a node's steps switch, each with the place that says so. */
export function plugsIn(steps: ResolvedSteps): [plug: string, where: string][] {
  return switched(steps).map(({ method }) => [plugKey(method), method.where]);
}

function switched(steps: ResolvedSteps): { step: Step; method: ResolvedSteps[Step][number]['methods'][number] }[] {
  return STEPS.flatMap((step) =>
    steps[step].flatMap(({ methods }) => methods.filter(({ device }) => device !== '').map((method) => ({ step, method }))),
  );
}

/** A plug that serves two nodes: switching it off for one switches off the other, which nobody has found to be failed. */
export function checkOwners(node: string, steps: ResolvedSteps, owners: PlugOwners, problems: Problems): void {
  for (const { step, method } of switched(steps)) {
    if (method.action === 'run') continue;
    const others = [...(owners.get(plugKey(method)) ?? [])].filter(([other]) => other !== node);
    const [first] = others;
    if (first === undefined) continue;
    const plug = method.plug === '' ? method.device : `${method.device} plug ${method.plug}`;
    const isDeclared = others.every(([other]) => method.shared.includes(other));
    const message = isDeclared
      ? `${plug} also serves ${others.map(([other]) => other).join(', ')}, as shared= says: off would need all of them failed, which this version cannot tell; use a plug of its own`
      : `${plug} is also switched for node ${first[0]} (${first[1]}): one of them names another machine's plug`;
    problems.error(method.where, message, step);
  }
}
