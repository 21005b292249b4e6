import { ownStatus } from './restored.ts';
import type { FenceObject } from './restored.ts';
import { EVIDENCE_RULES, validEvidence } from './evidence.ts';

/** A NodeFence as those read it who wait for its proof, and leave its node alone meanwhile. */
export interface FenceFacts {
  uid: string;
  /** Not final: the node belongs to the fence. */
  isOpen: boolean;
  /** Evidence stands that nothing on the node can write, so that any pod of it may be let go (P1). A revocation of single storages is none. */
  isIsolated: boolean;
  /** Evidence of an off stands: not voided, and nothing was switched on since. */
  isOff: boolean;
  /** `spec.requestedBy.uid` of the last request. */
  requestedByUID?: string;
}

/** The facts of one NodeFence; of one that the controller has not begun yet, or that was restored from a backup, nothing is proven. */
export function fenceFactsOf(fence: FenceObject): FenceFacts {
  const { metadata, spec } = fence;
  const status = ownStatus(fence);
  const plan = status?.frozen?.plan;
  const proof = status === undefined || plan === undefined ? undefined : validEvidence(status.evidence, plan);
  // An on voids all evidence when its intent is written, so that whatever stands is newer than the last on.
  const isOff = proof !== undefined && EVIDENCE_RULES[proof.kind].permitsTaint;
  const requestedByUID = spec.requestedBy?.uid;
  return {
    uid: metadata.uid ?? '',
    isOpen: status?.state !== 'final',
    isIsolated: proof !== undefined,
    isOff,
    ...(requestedByUID !== undefined && { requestedByUID }),
  };
}
