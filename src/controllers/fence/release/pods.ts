import { nextBatch, paceOf } from '../../../domain/release-plan.ts';
import type { AttachmentFacts, PodFacts, ReleaseChoice, ReleasePlan } from '../../../domain/release-plan.ts';
import { ApiStatusError, isUnanswered } from '../../../ports/api-transport.ts';
import { PODS, VOLUME_ATTACHMENTS } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { silentNode } from './order.ts';
import type { ReleaseOrder } from './order.ts';

/** Deletions under way at once; Node and Lease are read anew before each such handful. */
const AT_ONCE = 20;

/** What one operation let go before it ended, or was stopped; what nobody answered for may have been let go, and counts. */
export interface Course {
  freed: PodFacts[];
  mayHaveDetached: boolean;
  /** Pods that a PodDisruptionBudget keeps for now. */
  kept: PodFacts[];
}

/** Deletes or evicts the next batch of the plan; what is done stands in `course` whenever it throws. */
export async function letGo(
  dependencies: FenceDependencies,
  order: ReleaseOrder,
  plan: ReleasePlan,
  choice: ReleaseChoice,
  course: Course,
): Promise<void> {
  if (plan.treatment === 'evict' || plan.treatment === 'evict-force') await evictPods(dependencies, order, plan, paceOf(choice).size, course);
  else await deletePods(dependencies, order, nextBatch(plan, choice), plan.treatment === 'force' ? { gracePeriodSeconds: 0 } : {}, course);
}

async function deletePods(
  dependencies: FenceDependencies,
  order: ReleaseOrder,
  pods: readonly PodFacts[],
  how: { gracePeriodSeconds?: number },
  { freed }: Course,
): Promise<void> {
  for (let index = 0; index < pods.length; index += AT_ONCE) {
    await silentNode(dependencies, order);
    const ends = await Promise.allSettled(pods.slice(index, index + AT_ONCE).map((pod) => counted(freed, pod, remove(dependencies, pod, how))));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }
}

/** What the API server did not answer may be done all the same: the pod counts as let go. */
async function counted(freed: PodFacts[], pod: PodFacts, call: Promise<void>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (isUnanswered(error)) freed.push(pod);
    throw error;
  }
  freed.push(pod);
}

/** A pod of another uid stands under the name: the one that was meant is gone. */
async function remove({ cluster }: FenceDependencies, { namespace, name, uid }: PodFacts, how: { gracePeriodSeconds?: number }): Promise<void> {
  try {
    await cluster.remove(PODS, name, { namespace, ...(uid === undefined ? {} : { uid }), ...how });
  } catch (error) {
    if (!(error instanceof ApiStatusError) || error.status !== 409) throw error;
  }
}

/** Budgets decide which of them go: those that are kept do not count into the batch, and are asked for again with the next one. */
async function evictPods(dependencies: FenceDependencies, order: ReleaseOrder, plan: ReleasePlan, size: number, course: Course): Promise<void> {
  const how = plan.treatment === 'evict-force' ? { gracePeriodSeconds: 0 } : {};
  for (const pod of plan.batched) {
    if (course.freed.length >= size) return;
    await silentNode(dependencies, order);
    try {
      await counted(course.freed, pod, dependencies.cluster.evict(pod.name, pod.namespace, how));
    } catch (error) {
      if (!(error instanceof ApiStatusError) || (error.status !== 429 && error.status !== 404)) throw error;
      if (error.status === 429) course.kept.push(pod);
    }
  }
}

/** After the last pod: a volume must not be attached elsewhere while the API still shows who writes to it here. */
export async function detach(
  dependencies: FenceDependencies,
  order: ReleaseOrder,
  attachments: readonly AttachmentFacts[],
  course: Course,
): Promise<void> {
  if (attachments.length === 0) return;
  await silentNode(dependencies, order);
  course.mayHaveDetached = true;
  await Promise.all(attachments.map(({ name, uid }) => dependencies.cluster.remove(VOLUME_ATTACHMENTS, name, uid === undefined ? {} : { uid })));
}
