import type { AskedMethods, Frozen, NodeFenceSpec } from './node-fence.ts';
import type { Plan } from './plan.ts';
import type { Snapshot } from './snapshot.ts';

/** The methods that the request names; `undefined`: none, or there is no request. */
export function askedMethodsOf({ requestedBy, methods, lastStep }: NodeFenceSpec): AskedMethods | undefined {
  if (requestedBy === undefined || methods === undefined) return undefined;
  return { methods, ...(lastStep !== undefined && { lastStep }) };
}

/** The plan that is frozen now. `isServing`: the incident serves the request that stands; otherwise its wishes are nobody's. */
export function planToFreeze({ fence, plan, askedPlan }: Snapshot, isServing: boolean): Pick<Frozen, 'plan' | 'asked'> {
  if (!isServing || fence === undefined) return { plan };
  const asked = askedMethodsOf(fence.spec);
  const made = asked === undefined ? plan : (askedPlan ?? unread(plan));
  const { release } = fence.spec;
  return { plan: release === undefined ? made : { ...made, release }, ...(asked !== undefined && { asked }) };
}

/** Whoever took the snapshot made no plan of them: nothing else is done in their place (P7). */
function unread(plan: Plan): Plan {
  const problems = (['isolation', 'power-management'] as const).map((step) => ({
    step,
    severity: 'error' as const,
    where: 'NodeFence, spec.methods',
    message: 'no plan could be made of them: request the fence anew',
  }));
  return { ...plan, isolation: [], powerManagement: [], problems };
}
