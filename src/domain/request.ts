import type { FenceFacts, Snapshot } from './snapshot.ts';
import type { NodeFenceSpec, NodeFenceStatus, Trigger } from './node-fence.ts';

/** A request that no incident of this fence has taken up yet. */
export function newRequest(fence: Pick<FenceFacts, 'spec' | 'status'>): FenceFacts['spec']['requestedBy'] {
  const { requestedBy } = fence.spec;
  return requestedBy === undefined || requestedBy.uid === fence.status?.trigger?.requestUID ? undefined : requestedBy;
}

/**
 * An open incident takes up a request that comes while it is under way, and is shortcut by Ready again when the request is withdrawn. A final one is left as it
 * is: a new request begins a new incident there. Only where it is withdrawn with its ending does its machine come back before the NodeFence goes.
 */
export function withRequest(
  status: NodeFenceStatus,
  { spec, deleting }: Pick<FenceFacts, 'spec' | 'deleting'>,
  { wall }: Pick<Snapshot, 'wall'>,
): NodeFenceStatus {
  if (status.state === 'final') return deleting && spec.ending === undefined ? withEnding(status, undefined) : status;
  const trigger: Trigger = status.trigger ?? { kind: 'node-condition', since: wall };
  const asked = newRequest({ spec, status });
  if (asked !== undefined) return withWishes({ ...status, trigger: { ...trigger, kind: kindOf(asked), requestUID: asked.uid } }, spec);
  if (trigger.kind === 'node-condition' || trigger.kind === 'heartbeat') return status;
  if (spec.requestedBy !== undefined) return withWishes(status, spec);
  return withWishes({ ...status, trigger: { ...trigger, kind: 'node-condition' } }, {});
}

/** What a request asks for follows it. */
function withWishes(status: NodeFenceStatus, { ending, lastStep }: Pick<NodeFenceSpec, 'ending' | 'lastStep'>): NodeFenceStatus {
  const ended = withEnding(status, ending);
  if (lastStep === ended.lastStep) return ended;
  const { lastStep: _before, ...rest } = ended;
  return lastStep === undefined ? rest : { ...rest, lastStep };
}

/** That the machine is being deleted stays, whatever is asked for. */
function withEnding(status: NodeFenceStatus, ending: NodeFenceSpec['ending']): NodeFenceStatus {
  if (ending === status.ending || (ending === undefined && status.ending === 'deleted')) return status;
  const { ending: _before, ...rest } = status;
  return ending === undefined ? rest : { ...rest, ending };
}

/** A person's request carries `kind: 'Person'`; every other is a remediation object. */
export function kindOf({ kind }: { kind: string }): Trigger['kind'] {
  return kind === 'Person' ? 'person' : 'remediation';
}
