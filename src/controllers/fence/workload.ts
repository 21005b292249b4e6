import { isReleasable } from '../../domain/release-plan.ts';
import type { AttachmentFacts, PodFacts } from '../../domain/release-plan.ts';
import type { Pod, VolumeAttachment } from '../../ports/objects.ts';
import { PODS, VOLUME_ATTACHMENTS } from '../../ports/resources.ts';
import { factsOf } from '../shared/release/pod-facts.ts';
import { BY_NODE } from './dependencies.ts';
import type { FenceDependencies, FenceListers } from './dependencies.ts';

type Watching = Pick<FenceDependencies, 'listers' | 'clock' | 'options'>;

/** Those of Nodes and Leases may be live while these hang: what they show is of before, and says neither that something is gone nor that nothing has come. */
export function isWorkloadUnsure({ listers, clock, options }: Watching): boolean {
  return clock.monotonicMs() - Math.min(listers.pods.freshAtMs, listers.volumeAttachments.freshAtMs) > options.staleAfterMs;
}

/** Pods and VolumeAttachments of a node: as the watches have them, and by lists where those hang. */
export async function workloadNow(
  dependencies: Watching & Pick<FenceDependencies, 'cluster'>,
  node: string,
): Promise<{ pods: PodFacts[]; attachments: AttachmentFacts[] }> {
  const { listers, cluster } = dependencies;
  if (!isWorkloadUnsure(dependencies))
    return { pods: listers.pods.byIndex(BY_NODE, node).map(factsOf), attachments: listers.volumeAttachments.byIndex(BY_NODE, node).map(attachment) };
  const [pods, attachments] = await Promise.all([cluster.list(PODS, { fieldSelector: `spec.nodeName=${node}` }), cluster.list(VOLUME_ATTACHMENTS)]);
  return { pods: pods.map(factsOf), attachments: attachments.filter(({ spec }) => spec.nodeName === node).map(attachment) };
}

/** Pods that a release frees, as the watch has them. */
export function releasablePods(listers: FenceListers, node: string): Pod[] {
  return listers.pods.byIndex(BY_NODE, node).filter((pod) => isReleasable(factsOf(pod)));
}

function attachment({ metadata, spec }: VolumeAttachment): AttachmentFacts {
  return {
    name: metadata.name,
    uid: metadata.uid,
    volume: spec.source.persistentVolumeName,
    isTerminating: metadata.deletionTimestamp !== undefined,
  };
}

export function workloadOf(listers: FenceListers, node: string): { pods: number; terminating: number; volumeAttachments: number } {
  const pods = releasablePods(listers, node);
  return {
    pods: pods.length,
    terminating: pods.filter((pod) => pod.metadata.deletionTimestamp !== undefined).length,
    volumeAttachments: listers.volumeAttachments.byIndex(BY_NODE, node).length,
  };
}
