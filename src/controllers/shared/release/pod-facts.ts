import { OUT_OF_SERVICE_TAINT } from '../../../domain/advance.ts';
import type { PodFacts } from '../../../domain/release-plan.ts';
import type { Pod } from '../../../ports/objects.ts';

/** What a release reads of a pod; its storages are read where they matter. */
export function factsOf(pod: Pod): PodFacts {
  const { metadata, spec } = pod;
  const owner = metadata.ownerReferences?.find((reference) => reference.controller === true);
  const isTerminating = metadata.deletionTimestamp !== undefined;
  const { finalizers = [] } = metadata;
  return {
    namespace: metadata.namespace ?? 'default',
    name: metadata.name,
    uid: metadata.uid,
    createdAt: metadata.creationTimestamp,
    priority: spec.priority ?? 0,
    priorityClass: spec.priorityClassName,
    ownerKind: owner?.kind ?? '',
    ownerName: owner?.name ?? '',
    isMeantToStay: toleratesOutOfService(pod, (seconds) => seconds === undefined),
    staysForNow: toleratesOutOfService(pod, (seconds) => seconds !== undefined && seconds > 0),
    isTerminating,
    isForced: isTerminating && metadata.deletionGracePeriodSeconds === 0,
    ...(isTerminating && finalizers.length > 0 && { finalizers }),
    endsAtOnce: spec.terminationGracePeriodSeconds === 0,
    storages: [],
    hasUnknownVolume: false,
  };
}

function toleratesOutOfService(pod: Pod, isLongEnough: (seconds: number | undefined) => boolean): boolean {
  return (pod.spec.tolerations ?? []).some((toleration) => {
    const key = toleration.key === undefined || toleration.key === '' || toleration.key === OUT_OF_SERVICE_TAINT.key;
    const value = toleration.operator === 'Exists' || (toleration.value ?? '') === OUT_OF_SERVICE_TAINT.value;
    const effect = toleration.effect === undefined || toleration.effect === '' || toleration.effect === OUT_OF_SERVICE_TAINT.effect;
    return key && value && effect && isLongEnough(toleration.tolerationSeconds) && (toleration.key !== undefined || toleration.operator === 'Exists');
  });
}
