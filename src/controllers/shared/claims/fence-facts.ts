import { fenceFactsOf } from '../../../domain/fence-facts.ts';
import type { OffDelays } from '../../../domain/off-time.ts';
import type { JournalEntry, Outcome } from '../../../domain/node-fence.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import { ownStatus } from '../../../domain/restored.ts';
import { isHeldUnasked } from './claim.ts';
import { timeOf } from '../remediation/actions.ts';

/** A NodeFence as a request sees it. */
export interface FenceFacts {
  name: string;
  uid: string;
  requestedByUID?: string;
  /** uid of the Node that it is of; absent: it has not begun. */
  nodeUID?: string;
  /** In words, for those whose fence it is not. */
  owner: string;
  isDeleting: boolean;
  /** status.state is final. */
  isFinal: boolean;
  outcome?: Outcome;
  finalAtMs?: number;
  /** An off is on its way, or was done: it is finished, and the way back with it. One that came to nothing is none: another would be begun. */
  isOffSent: boolean;
  /** Evidence of an off stands. */
  isOff: boolean;
  /** state error, and the fence does not try again by itself. */
  isStuck: boolean;
  /** A request may join it: see isHeldUnasked. */
  isJoinable?: true;
  /** Of a fence that has begun and switches something off. */
  delays?: OffDelays;
  /** Held, or stopped by a person, in words: no time runs. */
  heldBecause?: string;
}

/** A fence that the controller has not begun yet has sent and proven nothing. */
export function readFence(fence: NodeFence, owner: string): FenceFacts {
  const { metadata, spec } = fence;
  const status = ownStatus(fence);
  const { uid, isOff } = fenceFactsOf(fence);
  const finalAtMs = timeOf(status?.timeline.finalAt);
  const held = status?.hold;
  const plan = status?.frozen?.plan;
  const limit = plan?.maxRestarts ?? 0;
  const isUsedUp = limit >= 0 && (status?.restarts ?? 0) >= limit;
  return {
    name: metadata.name,
    uid,
    owner,
    isDeleting: metadata.deletionTimestamp !== undefined,
    isFinal: status?.state === 'final',
    isOffSent: isOffSent(status?.journal ?? []),
    isOff,
    isStuck: status?.state === 'error' && isUsedUp,
    ...(isHeldUnasked(fence) && { isJoinable: true as const }),
    ...(spec.requestedBy !== undefined && { requestedByUID: spec.requestedBy.uid }),
    ...(status?.frozen !== undefined && { nodeUID: status.frozen.nodeUID }),
    ...(status?.outcome !== undefined && { outcome: status.outcome }),
    ...(finalAtMs !== undefined && { finalAtMs }),
    ...(plan !== undefined && plan.powerManagement.length > 0 && { delays: plan.timing }),
    ...(held !== undefined && { heldBecause: `${held.reason}: ${held.message}` }),
  };
}

const OFFS: ReadonlySet<string> = new Set<JournalEntry['action']>(['off', 'reboot', 'confirm']);

function isOffSent(journal: readonly JournalEntry[]): boolean {
  const last = journal.findLast(({ step, action }) => step === 'power-management' && OFFS.has(action));
  return last !== undefined && (last.finishedAt === undefined || last.result === 'succeeded' || last.result === 'found-done');
}
