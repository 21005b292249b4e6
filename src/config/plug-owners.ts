import type { Step } from '../domain/plan.ts';
import { STEPS } from '../domain/plan.ts';
import type { ResolvedSteps } from './plan-checks.ts';
import { plugKey } from './plan-checks.ts';
import type { ResolvedMethod } from './plan-method.ts';
import type { Problems } from './problems.ts';

/** Plug → the nodes whose plans switch it, and where each says so. */
export type PlugOwners = Pick<ReadonlyMap<string, ReadonlyMap<string, string>>, 'get'>;

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
    const first = otherOwner(owners, node, method);
    if (first === undefined) continue;
    const plug = method.plug === '' ? method.device : `${method.device} plug ${method.plug}`;
    const [other, where] = first;
    // The same text for several nodes is told in the same words for each, so that it is told once.
    const whose =
      where === method.where
        ? 'is switched by this text for several nodes: write {node}, {address}, {label:x} or {annotation:x} where the machines differ, or a ConfigMap for each node'
        : `is also switched for node ${other} (${where}): one of them names another machine's plug`;
    const message = isDeclared(owners, node, method)
      ? `${plug} also serves ${method.shared.filter((name) => name !== node).join(', ')}, as shared= says: off would need all of them failed, which this version cannot tell; use a plug of its own`
      : `${plug} ${whose}`;
    problems.error(method.where, message, step);
  }
}

function otherOwner(owners: PlugOwners, node: string, method: ResolvedMethod): [node: string, where: string] | undefined {
  for (const owner of owners.get(plugKey(method)) ?? []) if (owner[0] !== node) return owner;
  return undefined;
}

function isDeclared(owners: PlugOwners, node: string, method: ResolvedMethod): boolean {
  if (method.shared.length === 0) return false;
  return [...(owners.get(plugKey(method))?.keys() ?? [])].every((other) => other === node || method.shared.includes(other));
}
