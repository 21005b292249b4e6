import { OUT_OF_SERVICE_TAINT } from '../../domain/advance.ts';
import type { Pod } from '../../ports/objects.ts';
import { BY_NODE } from './dependencies.ts';
import type { FenceListers } from './dependencies.ts';

/** Pods that a release frees: not those of DaemonSets, static and mirror pods, or pods that tolerate the out-of-service taint (design 5). */
export function isReleasable(pod: Pod): boolean {
  const owner = pod.metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (owner?.kind === 'DaemonSet' || owner?.kind === 'Node') return false;
  return !toleratesOutOfService(pod);
}

function toleratesOutOfService(pod: Pod): boolean {
  return (pod.spec.tolerations ?? []).some((toleration) => {
    const key = toleration.key === undefined || toleration.key === '' || toleration.key === OUT_OF_SERVICE_TAINT.key;
    const value = toleration.operator === 'Exists' || (toleration.value ?? '') === OUT_OF_SERVICE_TAINT.value;
    const effect = toleration.effect === undefined || toleration.effect === '' || toleration.effect === OUT_OF_SERVICE_TAINT.effect;
    return key && value && effect && toleration.tolerationSeconds === undefined && (toleration.key !== undefined || toleration.operator === 'Exists');
  });
}

export function releasablePods(listers: FenceListers, node: string): Pod[] {
  return listers.pods.byIndex(BY_NODE, node).filter(isReleasable);
}

export function workloadOf(listers: FenceListers, node: string): { pods: number; terminating: number; volumeAttachments: number } {
  const pods = releasablePods(listers, node);
  return {
    pods: pods.length,
    terminating: pods.filter((pod) => pod.metadata.deletionTimestamp !== undefined).length,
    volumeAttachments: listers.volumeAttachments.byIndex(BY_NODE, node).length,
  };
}
