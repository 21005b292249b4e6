import { acknowledged, releasedOnWord } from './acknowledgement.ts';
import { offBegan } from './journal.ts';
import type { Evidence, NodeFenceSpec, NodeFenceStatus } from './node-fence.ts';
import type { ActiveHold, Snapshot } from './snapshot.ts';

/** Policy and reason of the hold of a fence that is asked to go no further than isolation. */
export const ISOLATION_ONLY = 'isolation-only';

const MESSAGE =
  'asked to go no further than isolation: isolated, and not switched off; ends when the request is withdrawn or asks for more, and when the node fails by itself';

export const ISOLATION_ONLY_HOLD: ActiveHold = { reason: ISOLATION_ONLY, policy: ISOLATION_ONLY, message: MESSAGE, isMeant: true };

/** The snapshot with that hold, first of all, where it stands. `isFailing`: the node has failed by its own conditions, whatever was asked for. */
export function withLastStep(snapshot: Snapshot, status: NodeFenceStatus, isFailing: boolean): Snapshot {
  if (isFailing || status.state !== 'running' || !endsInIsolation(status) || acknowledged(status) !== undefined) return snapshot;
  return { ...snapshot, holds: [ISOLATION_ONLY_HOLD, ...snapshot.holds] };
}

/** The request still keeps it where isolation ends: nothing has been switched off, and no person has the machine in hand. */
export function endsInIsolation(status: NodeFenceStatus): boolean {
  return status.lastStep === 'isolation' && status.state !== 'done' && status.state !== 'final' && !offBegan(status) && !releasedOnWord(status);
}

export function isOnlyIsolated({ holds }: { holds: readonly ActiveHold[] }): boolean {
  return holds.some(({ policy }) => policy === ISOLATION_ONLY);
}

/** The node is meant to live, without its storage: that its kubelet speaks says nothing against what was read closed. Another boot does. */
export function mayLive({ lastStep }: Pick<NodeFenceStatus, 'lastStep'>, { kind }: Pick<Evidence, 'kind'>): boolean {
  return lastStep === 'isolation' && kind === 'storage-revoked';
}

/** What of a NodeFence is heeded by nobody, in words. */
export function ignoredIn({ requestedBy, lastStep, methods }: NodeFenceSpec): string | undefined {
  const stray = [...(lastStep === undefined ? [] : ['spec.lastStep']), ...(methods === undefined ? [] : ['spec.methods'])];
  if (requestedBy !== undefined || stray.length === 0) return undefined;
  return `ignored, for it belongs to a request: ${stray.join(', ')}; write spec.requestedBy beside it, or take it out`;
}
