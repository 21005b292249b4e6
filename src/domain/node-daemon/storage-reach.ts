import type { Attestation } from './attestation.ts';

/** What the daemon of one node says of its storage. */
export interface StorageWord {
  /** Its heartbeats come, of the boot that attests: what a silent node said last is no news. */
  isHeard: boolean;
  /** The last heartbeat says so. */
  isLostNow: boolean;
  attested: Attestation['storage'];
}

/** Undefined: it says nothing of it now. A loss is told by heartbeat at once; that it is over, by its attestation. */
export function reachOf({ isHeard, isLostNow, attested }: StorageWord): boolean | undefined {
  if (!isHeard) return undefined;
  if (isLostNow) return false;
  return attested === 'reachable' ? true : undefined;
}

/** How many nodes say that they reach it, and that they do not. */
export interface ReachCounts {
  reach: number;
  lost: number;
}

/** One peer that reaches the storage is enough: it has not failed. Undefined: no peer says anything. `counts`: of all, the node's own word among them. */
export function peersReach({ reach, lost }: ReachCounts, own: boolean | undefined): boolean | undefined {
  const others = { reach: reach - (own === true ? 1 : 0), lost: lost - (own === false ? 1 : 0) };
  if (others.reach > 0) return true;
  return others.lost > 0 ? false : undefined;
}
