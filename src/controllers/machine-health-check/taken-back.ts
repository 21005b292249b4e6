import type { Action } from './actions.ts';
import { conditionIn, restated } from './conditions.ts';
import { isTarget } from './evaluate.ts';
import { HEALTH_CHECK_SUCCEEDED, PAUSED_ANNOTATION } from './names.ts';
import type { ClusterSnapshot, MachineFacts, ReadCheck } from './snapshot.ts';
import { keyOf } from './snapshot.ts';
import { notChecked } from './statements.ts';
import { patchOf, refOf } from './target.ts';

/** In whichever list. */
export function isCalledIll({ conditions }: MachineFacts): boolean {
  return [conditions.v1beta2, conditions.v1beta1].some((list) => conditionIn(list, HEALTH_CHECK_SUCCEEDED)?.status === 'False');
}

/**
 * That a Machine is ill, said by a health check that does not look at it any more: nobody knows. As long as it stood, whoever remediates would power-cycle its
 * node again when that is long well, and have its owner replace it in the end. `undefined`: nothing is said.
 */
export function takenBack(machine: MachineFacts, why: 'paused' | 'gone', now: string): Action | undefined {
  if (!isCalledIll(machine)) return undefined;
  const status = restated(machine.conditions, machine.paths, [notChecked(why)], { now, generation: machine.generation });
  return status && { kind: 'machine-status', target: refOf(machine, 'Machine'), patch: { ...patchOf(machine), status } };
}

/** Of every Machine that is called ill and that no check selects any more, or that is to be skipped. One that is paused, or whose Cluster is, is left as it is. */
export function leftBehind(
  machines: Iterable<MachineFacts>,
  checks: readonly ReadCheck[],
  snapshot: Pick<ClusterSnapshot, 'cluster'>,
  now: string,
): Action[] {
  const actions: Action[] = [];
  for (const machine of machines) {
    if (!isCalledIll(machine) || PAUSED_ANNOTATION in machine.annotations || isClusterPaused(machine, snapshot)) continue;
    // Whom a check with a problem selects is not known.
    const isChecked = checks.some(({ check, problems }) =>
      problems.length > 0 ? check.namespace === machine.namespace : !check.isDeleting && isTarget(check, machine),
    );
    const action = isChecked ? undefined : takenBack(machine, 'gone', now);
    if (action !== undefined) actions.push(action);
  }
  return actions;
}

function isClusterPaused({ namespace, clusterName }: MachineFacts, snapshot: Pick<ClusterSnapshot, 'cluster'>): boolean {
  const cluster = clusterName === undefined ? undefined : snapshot.cluster(keyOf({ namespace, name: clusterName }));
  return typeof cluster === 'object' && cluster.isPaused;
}
