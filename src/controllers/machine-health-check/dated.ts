import { conditionOf } from './conditions.ts';
import type { Marks } from '../shared/sights.ts';
import { CONTROL_PLANE_INITIALIZED, INFRASTRUCTURE_READY } from './names.ts';
import type { ClusterFacts, Gate, MachineFacts, NodeFacts } from './snapshot.ts';

/** A Machine itself, and OpenShift's `status.lastUpdated`; blanks stand in no type of a condition. */
export const CREATED = 'created at';
export const LAST_UPDATED = 'last updated';

export function datesOfNode({ conditions }: NodeFacts): Marks {
  return new Map(conditions.map(({ type, status, sinceMs }) => [type, `${status} ${sinceMs}`]));
}

export function datesOfMachine({ uid, lastUpdatedMs, conditions }: MachineFacts): Marks {
  const types = [...conditions.v1beta2, ...conditions.v1beta1].map(({ type }) => type);
  return new Map([
    [CREATED, uid],
    ...(lastUpdatedMs === undefined ? [] : [[LAST_UPDATED, String(lastUpdatedMs)] as const]),
    ...types.map((type): [string, string] => {
      const { status, lastTransitionTime = '' } = conditionOf(conditions, type) ?? { status: '' };
      return [type, `${status} ${lastTransitionTime}`];
    }),
  ]);
}

export function datesOfCluster({ controlPlaneInitialized, infrastructureReady }: ClusterFacts): Marks {
  const markOf = ({ isTrue, sinceMs }: Gate): string => `${isTrue} ${sinceMs ?? ''}`;
  return new Map([
    [CONTROL_PLANE_INITIALIZED, markOf(controlPlaneInitialized)],
    [INFRASTRUCTURE_READY, markOf(infrastructureReady)],
  ]);
}
