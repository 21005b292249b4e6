import { isReleasable } from '../../domain/release-plan.ts';
import type { AttachmentFacts, PodFacts } from '../../domain/release-plan.ts';
import type { Pod } from '../../ports/objects.ts';
import { factsOf } from '../shared/release/pod-facts.ts';
import { BY_NODE } from './dependencies.ts';
import type { FenceListers } from './dependencies.ts';

export function podFactsOf(listers: FenceListers, node: string): PodFacts[] {
  return listers.pods.byIndex(BY_NODE, node).map(factsOf);
}

/** Pods that a release frees, as the watch has them. */
export function releasablePods(listers: FenceListers, node: string): Pod[] {
  return listers.pods.byIndex(BY_NODE, node).filter((pod) => isReleasable(factsOf(pod)));
}

export function attachmentsOf(listers: FenceListers, node: string): AttachmentFacts[] {
  return listers.volumeAttachments.byIndex(BY_NODE, node).map(({ metadata, spec }) => ({
    name: metadata.name,
    uid: metadata.uid,
    volume: spec.source.persistentVolumeName,
    isTerminating: metadata.deletionTimestamp !== undefined,
  }));
}

export function workloadOf(listers: FenceListers, node: string): { pods: number; terminating: number; volumeAttachments: number } {
  const pods = releasablePods(listers, node);
  return {
    pods: pods.length,
    terminating: pods.filter((pod) => pod.metadata.deletionTimestamp !== undefined).length,
    volumeAttachments: listers.volumeAttachments.byIndex(BY_NODE, node).length,
  };
}
