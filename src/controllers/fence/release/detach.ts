import type { AttachmentFacts } from '../../../domain/release-plan.ts';
import { VOLUME_ATTACHMENTS } from '../../../ports/resources.ts';
import type { FenceDependencies } from '../dependencies.ts';
import { silentNode } from './order.ts';
import type { ReleaseOrder } from './order.ts';

/** After the last pod: a volume must not be attached elsewhere while the API still shows who writes to it here. `began`: told before the first call. */
export async function detach(
  dependencies: FenceDependencies,
  order: ReleaseOrder,
  attachments: readonly AttachmentFacts[],
  began: () => void,
): Promise<void> {
  if (attachments.length === 0) return;
  await silentNode(dependencies, order);
  began();
  const { cluster } = dependencies;
  const how = { beforeSend: order.mayGoOn };
  const calls = attachments.map(({ name, uid }) => cluster.remove(VOLUME_ATTACHMENTS, name, uid === undefined ? how : { ...how, uid }));
  // None outlives its operation: a stop waits for what is under way, and the machine is switched on behind it.
  await Promise.allSettled(calls);
  await Promise.all(calls);
}
