import type { ClusterCondition, ClusterMachine } from '../../../ports/cluster-api.ts';
import type { ObjectMeta } from '../../../ports/objects.ts';
import type { ConditionFact, OwnerMachine } from './owner-machine.ts';

/** Stops every controller of Cluster API on the object that carries it. */
export const PAUSED = 'cluster.x-k8s.io/paused';

/** What every Machine has. `apiVersion`: the one it was read in. `isClusterPaused`: spec.paused of its Cluster. */
export function readMetadata(metadata: ObjectMeta, apiVersion: string, isClusterPaused: boolean) {
  return {
    apiVersion,
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    uid: metadata.uid ?? '',
    labels: metadata.labels ?? {},
    annotations: metadata.annotations ?? {},
    isDeleting: metadata.deletionTimestamp !== undefined,
    isPaused: isClusterPaused || metadata.annotations?.[PAUSED] !== undefined,
  };
}

export function readMachine(machine: ClusterMachine, apiVersion: string, isClusterPaused: boolean): OwnerMachine {
  const { metadata, status } = machine;
  const nodeName = status?.nodeRef?.name;
  const isOlder = apiVersion.endsWith('/v1beta1');
  const plain = status?.conditions;
  return {
    ...readMetadata(metadata, apiVersion, isClusterPaused),
    ...(nodeName !== undefined && nodeName !== '' && { nodeName }),
    conditions: (isOlder ? status?.v1beta2?.conditions : plain)?.map(readCondition) ?? [],
    olderConditions: (isOlder ? plain : undefined)?.map(readCondition) ?? [],
  };
}

function readCondition({ type, status, reason, message, severity, lastTransitionTime }: ClusterCondition): ConditionFact {
  return {
    type,
    status,
    ...(reason !== undefined && { reason }),
    ...(message !== undefined && { message }),
    ...(severity !== undefined && { severity }),
    ...(lastTransitionTime !== undefined && { lastTransitionTime }),
  };
}
