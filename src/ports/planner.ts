import type { AskedMethods } from '../domain/node-fence.ts';
import type { Plan, PlanMethod } from '../domain/plan.ts';
import type { StormPolicy } from '../domain/policies/policy.ts';
import type { Parameters } from './agents.ts';
import type { Node } from './objects.ts';

/** Configuration as the fence controller needs it; read live from ConfigMaps and Secrets. */
export interface Planner {
  /** The node's resolved plan as configured now, or of the methods that are asked for. Never throws: what is wrong stands in `plan.problems` (P7). */
  planFor(node: Node, asked?: AskedMethods): Plan;
  /** Frozen parameters with today's secrets merged in. Rejects with `AgentError` kind `Misconfigured` when a Secret is missing. */
  parametersFor(node: string, method: PlanMethod): Promise<Parameters>;
  /** The storm policies as configured now, the safe defaults without configuration; the same array until the configuration changes. */
  stormPolicies(): readonly StormPolicy[];
}
