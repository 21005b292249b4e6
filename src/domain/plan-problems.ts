import type { PlanProblem } from './plan.ts';

/** Ends the words of a value that could not be used and kept nobody from being fenced. */
export const DEFAULT_STANDS = 'the default stands';

/** Ends the words about a plan that switches nothing off and revokes no storage. */
export const PROVES_NOTHING = 'nothing can prove that it is gone, so its workload will not be released';

/** How a fence of the node would go, by what is wrong with its plan. */
export const FENCEABLE = ['yes', 'configuration-error', 'no-proof', 'default-stands'] as const;
export type Fenceable = (typeof FENCEABLE)[number];

/** The worst of it. */
export function fenceableOf(problems: readonly { severity: string; message: string }[]): Fenceable {
  if (problems.some(({ severity }) => severity === 'error')) return 'configuration-error';
  if (problems.some(({ message }) => message.endsWith(PROVES_NOTHING))) return 'no-proof';
  return problems.some(isDefaulted) ? 'default-stands' : 'yes';
}

/** Nobody is kept from fencing by it, and somebody should hear of it all the same. */
export function isDefaulted({ message }: Pick<PlanProblem, 'message'>): boolean {
  return message.endsWith(DEFAULT_STANDS);
}
