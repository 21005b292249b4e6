import { validEvidence } from '../../domain/evidence.ts';
import { fenceFactsOf } from '../../domain/fence-facts.ts';
import { ownStatus } from '../../domain/restored.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { FenceFacts } from './snapshot.ts';

/** What is read of a NodeFence, and the boot of its node that its proof speaks of. */
export interface FenceProof {
  node: string;
  facts: FenceFacts;
  provenBootID: string | undefined;
  /** The evidence that it is, and the read that it is of; undefined: there is none. */
  provenAs: string | undefined;
}

export function fenceProof(fence: NodeFence): FenceProof {
  const { metadata, spec } = fence;
  const status = ownStatus(fence);
  const plan = status?.frozen?.plan;
  const proof = status === undefined || plan === undefined ? undefined : validEvidence(status.evidence, plan);
  const bare = fenceFactsOf(fence);
  const facts: FenceFacts = { ...bare, ...(bare.isOpen && hasFailed(status) && { hasFailed: true }) };
  // Who takes a fence back may be switching the machine on already.
  const proven = metadata.deletionTimestamp === undefined ? facts : { ...facts, isIsolated: false, isOff: false };
  return { node: spec.node, facts: proven, provenBootID: proof?.bootID, provenAs: proof && `${proof.source} ${proof.observedAt}` };
}

/** A restart begins from error. */
function hasFailed(status: NodeFence['status']): boolean {
  return status !== undefined && (status.state === 'error' || status.restarts > 0);
}

/** The proof of a fence that is over speaks of the boot that it saw end: a node that came back since with another one may write. */
export function provenFor({ facts, provenBootID }: FenceProof, bootID: string | undefined): FenceFacts {
  const isOther = provenBootID !== undefined && bootID !== undefined && provenBootID !== bootID;
  return isOther ? { ...facts, isIsolated: false, isOff: false } : facts;
}
