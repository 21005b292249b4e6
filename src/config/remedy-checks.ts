import { remediesFor } from '../domain/remedy/reach.ts';
import type { Remedy, RemedyConfiguration, RemedyUse, Threshold } from '../domain/remedy/configuration.ts';
import type { AskedMethods } from '../domain/node-fence.ts';
import type { Plan, PlanProblem } from '../domain/plan.ts';
import type { NodeFacts } from './configuration.ts';
import { Problems } from './problems.ts';

/** What a node's own fence configuration does not admit of its remedies: found here, and not when the condition stands. `planOf`: as configured, or of some methods. */
export function remedyProblems(
  configurations: readonly RemedyConfiguration[],
  node: Pick<NodeFacts, 'labels'>,
  planOf: (asked?: AskedMethods) => Plan,
): PlanProblem[] {
  const problems = new Problems();
  for (const threshold of remediesFor(configurations, node.labels).thresholds) {
    for (const use of [...threshold.remedies, ...(threshold.recovery === undefined ? [] : [threshold.recovery])])
      check(problems, threshold, use, planOf);
    if (cordons(threshold) && !uncordons(threshold.recovery))
      problems.warning(
        threshold.where,
        `${threshold.id}: nothing takes back the cordon of its remedies: write recovery with name: uncordon, or uncordon by hand`,
      );
  }
  return problems.all();
}

function check(problems: Problems, { where, id }: Threshold, { name, remedy }: RemedyUse, planOf: (asked?: AskedMethods) => Plan): void {
  if (remedy.kind === 'fenceMethods') {
    // Whether they switch the node off or isolate it is found out when they are asked for: either is good.
    const errors = planOf({ methods: [...remedy.methods], lastStep: 'isolation' }).problems.filter(
      ({ severity, where: at }) => severity === 'error' && at.includes('spec.methods'),
    );
    for (const { message } of errors) problems.error(where, `remedy ${name} of ${id}: ${message}`);
  }
  if (remedy.kind === 'planStep' && remedy.step === 'isolation' && planOf().isolation.length === 0)
    problems.error(
      where,
      `remedy ${name} of ${id}: the node has no isolation step, so that nothing is isolated: write isolation= in its configuration, or leave it out of nodeSelector`,
    );
  if (remedy.kind === 'fence' && planOf().powerManagement.length === 0)
    problems.error(
      where,
      `remedy ${name} of ${id}: the node has no power_management step, so that its fence comes to nothing: write one in its configuration, or leave it out of nodeSelector`,
    );
}

const doesCordon = (remedy: Remedy): boolean => (remedy.kind === 'cordon' && remedy.isCordoned) || (remedy.kind === 'evict' && remedy.cordons);

function cordons({ remedies }: Threshold): boolean {
  return remedies.some(({ remedy }) => doesCordon(remedy));
}

/** A Job may do anything. */
function uncordons(recovery: RemedyUse | undefined): boolean {
  return recovery !== undefined && (recovery.remedy.kind === 'podTemplate' || (recovery.remedy.kind === 'cordon' && !recovery.remedy.isCordoned));
}
