import type { FenceFacts, Snapshot } from './snapshot.ts';
import type { NodeFenceStatus, Trigger } from './node-fence.ts';

/** A request that no incident of this fence has taken up yet. */
export function newRequest(fence: Pick<FenceFacts, 'spec' | 'status'>): FenceFacts['spec']['requestedBy'] {
  const { requestedBy } = fence.spec;
  return requestedBy === undefined || requestedBy.uid === fence.status?.trigger?.requestUID ? undefined : requestedBy;
}

/**
 * An open incident takes up a request that comes while it is under way, and is shortcut by Ready again when the request is withdrawn. A final one is left as it
 * is: a new request begins a new incident there.
 */
export function withRequest(status: NodeFenceStatus, { spec }: Pick<FenceFacts, 'spec'>, { wall }: Pick<Snapshot, 'wall'>): NodeFenceStatus {
  if (status.state === 'final') return status;
  const trigger: Trigger = status.trigger ?? { kind: 'node-condition', since: wall };
  const asked = newRequest({ spec, status });
  if (asked !== undefined) return { ...status, trigger: { ...trigger, kind: kindOf(asked), requestUID: asked.uid } };
  if (spec.requestedBy !== undefined || trigger.kind === 'node-condition') return status;
  return { ...status, trigger: { ...trigger, kind: 'node-condition' } };
}

/** A person's request carries `kind: 'Person'`; every other is a remediation object. */
export function kindOf({ kind }: { kind: string }): Trigger['kind'] {
  return kind === 'Person' ? 'person' : 'remediation';
}
