import type { Evidence, NodeFenceStatus } from './node-fence.ts';
import type { Plan } from './plan.ts';
import { leftIn } from './program.ts';
import type { NodeFacts } from './snapshot.ts';

/** P1: a person's word counts so long. */
export const ACKNOWLEDGEMENT_MAX_AGE_MS = 900_000;

/** A person's word that the machine of a node is down, as the API has it. */
export interface AcknowledgementFacts {
  /** Of the object; absent: it is not written yet. */
  uid?: string | undefined;
  nodeFenceUID: string;
  incident: number;
  bootID?: string | undefined;
  /** Since it was first seen, or by the server's time stamp, whichever is more. */
  ageMs: number;
}

/** Why an acknowledgement cannot count for this fence, now or later; `undefined` when it can. P1: bound to the fence, its incident and the boot. */
export function refusalOf(
  facts: AcknowledgementFacts,
  fence: { uid: string; status: NodeFenceStatus } | undefined,
  node: Pick<NodeFacts, 'bootID'> | undefined,
): string | undefined {
  if (fence === undefined) return 'no fence of this node is open';
  const { status } = fence;
  if (facts.nodeFenceUID !== fence.uid) return `it names another NodeFence (uid ${facts.nodeFenceUID}); the one that is open has uid ${fence.uid}`;
  if (facts.incident !== status.incident) return `it names incident ${facts.incident}; the one that is open is ${status.incident}`;
  if (facts.bootID !== undefined && facts.bootID !== node?.bootID) return `it names boot ${facts.bootID}; the node shows ${node?.bootID ?? 'none'}`;
  if (facts.ageMs > ACKNOWLEDGEMENT_MAX_AGE_MS) return 'it is older than 15 minutes: look at the machine again';
  if (status.state === 'done' || status.state === 'final') return `the fence is in state ${status.state}: there is nothing to release`;
  if (status.released !== undefined && !isCutOff(status) && !isReleasingOn(facts, status)) return 'the workload was released before';
  return status.frozen === undefined ? 'the fence has not begun' : inadmissible(status.frozen.plan);
}

/** The fence has failed in the middle of its release, or lost its proof behind it: what is left of the workload, or has come since, waits for a person. */
export function isCutOff({ state, released }: Pick<NodeFenceStatus, 'state' | 'released'>): boolean {
  return state === 'error' && released !== undefined && (released.voidedAt !== undefined || leftIn(released) > 0);
}

/** The workload is let go on this very word, and not all of it yet: before each batch the word is weighed anew. */
function isReleasingOn({ uid }: AcknowledgementFacts, { released, journal }: NodeFenceStatus): boolean {
  if (uid === undefined || released === undefined || released.voidedAt !== undefined || leftIn(released) === 0) return false;
  return journal.some(({ action, plug, result }) => action === 'acknowledge' && plug === uid && result === 'succeeded');
}

/** Why the configuration admits no person's word at all; `undefined` when it does. */
export function inadmissible(plan: Plan): string | undefined {
  if (!plan.minimumEvidence.includes('ack')) return 'minimum_evidence of this node does not admit ack';
  return plan.release === 'none' ? 'release=none: nothing is ever released for this node' : undefined;
}

/** A person's word that stands as evidence; nothing is switched any more while it does. */
export function acknowledged({ evidence }: Pick<NodeFenceStatus, 'evidence'>): Evidence | undefined {
  const proof = evidence.findLast((item) => item.voidedAt === undefined);
  return proof?.kind === 'ack' ? proof : undefined;
}

/** The person's word on which the workload was let go. */
export function releasedOnWord({ evidence, released }: Pick<NodeFenceStatus, 'evidence' | 'released'>): Evidence | undefined {
  return released === undefined ? undefined : evidence.find((item) => item.kind === 'ack' && item.source === released.evidence);
}

/** A journal as the release on a person's word sees it: what was tried before the word is no part of it. */
export function sinceWord(status: NodeFenceStatus): NodeFenceStatus {
  const first = status.evidence.find((item) => item.kind === 'ack' && item.voidedAt === undefined);
  const index = status.journal.findIndex((entry) => entry.id === first?.source);
  return index < 0 ? status : { ...status, journal: status.journal.slice(index) };
}
