import { isReleasable } from '../../domain/release-plan.ts';
import type { Pod } from '../../ports/objects.ts';
import { factsOf } from '../shared/release/pod-facts.ts';
import type { DrainFacts } from './snapshot.ts';

export type Workload = Omit<DrainFacts, 'seenMs'>;

/** What of a Node that is out of service is not let go yet. */
export function workloadOf(pods: readonly Pod[], volumeAttachments: number): Workload {
  return { terminatingPods: pods.filter(isTerminating).length, awaitedPods: pods.filter(isAwaited).length, volumeAttachments };
}

function isTerminating({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

function isAwaited(pod: Pod): boolean {
  const facts = factsOf(pod);
  const isFinished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
  return !isTerminating(pod) && !isFinished && isReleasable(facts) && !facts.staysForNow;
}
