import type { Attestation, GrantsEnded } from './attestation.ts';
import { vouchedUntilMs } from './peers.ts';
import type { Peer } from './peers.ts';

/**
 * Peers that have not promised to vouch no more, where they are still enough to keep the node up; empty: nobody can. A node that attests the failure domains by
 * which it counts goes down without more than half of them, so that the promises of the others do (ADR 37); of one that does not each peer has to promise.
 */
export function missingPromises(node: string, { peers, domains }: Attestation, { eligible, promised }: GrantsEnded): string[] {
  const missing = [...new Set([...eligible, ...peers])].filter((peer) => peer !== node && !promised.includes(peer));
  // Whom it does not attest yet it may attest by a write that is on its way.
  if (domains === undefined || missing.some((peer) => !peers.includes(peer))) return missing;
  const peerOf = (name: string): Peer => ({ node: name, ...(Object.hasOwn(domains, name) ? { domain: domains[name] ?? '' } : {}) });
  const still = new Map(missing.map((peer) => [peer, 0]));
  return vouchedUntilMs(peerOf(node), peers.map(peerOf), still) === undefined ? [] : missing;
}
