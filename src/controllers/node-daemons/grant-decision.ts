/** What is known in the turn in which the answer is sent. */
export interface GrantInputs {
  /** This replica leads, and its lease is valid now. */
  mayGrant: boolean;
  /** Every ending that stood when this replica began to lead has been read. */
  knowsEndings: boolean;
  /** Of the heartbeat. */
  bootID: string | undefined;
  /** Of the node's Lease; undefined: it attests nothing. */
  attestedBootID: string | undefined;
  /** The heartbeat was sealed with the key that the Lease attests. */
  isSealedByAttestedKey: boolean;
  /** Grants for this boot were ended, here or as the API says. */
  isEnded: boolean;
}

export type GrantAnswer = 'grant' | 'refusal' | 'silence';

/** Whether the node may go on for another G. Silence is no refusal: the node asks the other replicas, and then its peers. */
export function decideGrant({ mayGrant, knowsEndings, bootID, attestedBootID, isSealedByAttestedKey, isEnded }: GrantInputs): GrantAnswer {
  if (!mayGrant || bootID === undefined || bootID !== attestedBootID || !isSealedByAttestedKey) return 'silence';
  if (isEnded) return 'refusal';
  return knowsEndings ? 'grant' : 'silence';
}
