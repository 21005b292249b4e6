import { fenceName } from '../../domain/node-fence.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import type { TraceEvent } from '../../laws/trace.ts';

type Status = Partial<NodeFenceStatus>;

/** The first write of a fence of this node that has evidence `watchdog`, as the audit saw it; undefined: there is none. */
export function evidenceAtMs(audit: readonly TraceEvent[], node: string): number | undefined {
  return audit.find((event) => statusOf(event, node)?.evidence?.some(({ kind }) => kind === 'watchdog') === true)?.at;
}

/** When the fence of this node was first said to have released the workload, as the audit saw it. */
export function releasedAtMs(audit: readonly TraceEvent[], node: string): number | undefined {
  return audit.find((event) => statusOf(event, node)?.released !== undefined)?.at;
}

/** As it was written last. */
export function lastStatus(audit: readonly TraceEvent[], node: string): NodeFenceStatus | undefined {
  const last = audit.findLast((event) => statusOf(event, node) !== undefined);
  return last === undefined ? undefined : (statusOf(last, node) as NodeFenceStatus);
}

function statusOf(event: TraceEvent, node: string): Status | undefined {
  if (event.kind !== 'api' || event.name !== fenceName(node) || event.status >= 300) return undefined;
  return (event.object as { status?: Status } | undefined)?.status;
}
