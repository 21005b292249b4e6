import type { AttachmentFacts } from '../../../domain/release-plan.ts';
import { ApiStatusError, TransportError } from '../../../ports/api-transport.ts';
import { VOLUME_ATTACHMENTS } from '../../../ports/resources.ts';
import type { Refused } from '../../shared/release/asked-pods.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { silentNode } from './order.ts';
import type { ReleaseOrder } from './order.ts';

/** They say of no volume whether it may go: who asks is not known, or the API server has no time for anybody. */
const NO_ANSWER: ReadonlySet<number> = new Set([401, 429, 503]);

/**
 * After the last pod: a volume must not be attached elsewhere while the API still shows who writes to it here. One that is refused keeps none of the
 * others, and is asked for again later, as a pod. `began`: told before the first call.
 */
export async function detach(
  dependencies: FenceDependencies,
  order: ReleaseOrder,
  attachments: readonly AttachmentFacts[],
  began: () => void,
): Promise<void> {
  const { cluster, clock } = dependencies;
  const nowMs = clock.monotonicMs();
  const due = attachments.filter((attachment) => order.asked.mayAsk(attachment, nowMs));
  if (due.length === 0) return;
  await silentNode(dependencies, order);
  began();
  const how = { beforeSend: order.mayGoOn };
  const calls = due.map(async (attachment) => {
    const { name, uid } = attachment;
    try {
      await cluster.remove(VOLUME_ATTACHMENTS, name, uid === undefined ? how : { ...how, uid });
      order.asked.isOver(attachment);
    } catch (error) {
      const refused = refusalOf(error);
      if (refused === undefined) throw error;
      order.asked.refused(attachment, refused, clock.monotonicMs());
    }
  });
  // None outlives its operation: a stop waits for what is under way, and the machine is switched on behind it.
  await Promise.allSettled(calls);
  await Promise.all(calls);
}

/** What a failed call says of its volume; undefined: nothing, the operation ends. */
function refusalOf(error: unknown): Refused | undefined {
  if (error instanceof TransportError)
    return error.kind === 'timeout' ? { by: `the API server did not answer: ${error.message}`, isUnsure: true } : undefined;
  if (!(error instanceof ApiStatusError) || NO_ANSWER.has(error.status)) return undefined;
  // Whether it stands is seen by the watch before it is asked for again.
  return { by: error.message, isUnsure: error.status === 409 || error.status >= 500 };
}
