import type { Plan, PlanProblem } from './plan.ts';

/** Ends the words of a value that could not be used and kept nobody from being fenced. */
export const DEFAULT_STANDS = 'the default applies';

/** Ends the words about a plan that switches nothing off and revokes no storage. */
export const PROVES_NOTHING = 'nothing can prove that it is gone, so its workload will not be released';

/** How a fence of the node would go, by its plan; `never`: there would be none. */
export const FENCEABLE = ['yes', 'configuration-error', 'no-proof', 'default-stands', 'never'] as const;
export type Fenceable = (typeof FENCEABLE)[number];

/** What a fence is judged by: of a plan, or of what a report keeps of one. */
export interface Judged {
  trigger?: Plan['trigger'];
  problems: readonly { severity: string; message: string }[];
}

/** The worst of it. A node that nobody is to fence is not fenced, whatever is wrong with how. */
export function fenceableOf({ trigger, problems }: Judged): Fenceable {
  if (trigger === 'never') return 'never';
  if (problems.some(({ severity }) => severity === 'error')) return 'configuration-error';
  if (problems.some(({ message }) => message.endsWith(PROVES_NOTHING))) return 'no-proof';
  return problems.some(isDefaulted) ? 'default-stands' : 'yes';
}

/** Nobody is kept from fencing by it, and somebody should hear of it all the same. */
export function isDefaulted({ message }: Pick<PlanProblem, 'message'>): boolean {
  return message.endsWith(DEFAULT_STANDS);
}

/** A request does not change that; without a step it would come to nothing, and end as if something had been done. */
export const NEVER_FENCED: PlanProblem = {
  severity: 'error',
  where: 'fence=never',
  message: 'nobody is to fence this node: take that out of its ConfigMap, or its group’s, or withdraw the request',
};
