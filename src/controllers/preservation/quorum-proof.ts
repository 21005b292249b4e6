import { fenceName } from '../../domain/node-fence.ts';
import type { Cluster } from '../../ports/cluster.ts';
import type { Lease } from '../../ports/objects.ts';
import { LEASES, NODE_FENCES, NODE_LEASE_NAMESPACE, NODES } from '../../ports/resources.ts';
import type { ObjectRef } from './actions.ts';
import { fenceProof, provenFor } from './fence-proof.ts';
import { nodeFacts, timeMs } from './node-facts.ts';

const WANTED = { isIsolated: 'can not write', isOff: 'is off' } as const;

/**
 * Why nothing irreversible may rest on the proof that this node `isOff` or `isIsolated`, in words; undefined: the proof stands. Node, Lease and NodeFence are
 * read from the API's quorum; a sign of life after the proof voids it, also where the fence is over and nobody voids it there (P1, P2).
 */
export async function unprovenBecause(
  cluster: Pick<Cluster, 'get'>,
  node: Pick<ObjectRef, 'name' | 'uid'>,
  wanted: keyof typeof WANTED,
): Promise<string | undefined> {
  const fence = await cluster.get(NODE_FENCES, fenceName(node.name));
  const [standing, lease] = await Promise.all([cluster.get(NODES, node.name), cluster.get(LEASES, node.name, NODE_LEASE_NAMESPACE)]);
  if (standing?.metadata.uid !== node.uid) return 'another node stands under its name, or none';
  const { ready, bootID } = nodeFacts(standing);
  if (ready === 'True') return 'the node is Ready';
  const proof = fence === undefined ? undefined : fenceProof(fence);
  if (proof?.provenAtMs === undefined || !provenFor(proof, bootID)[wanted]) return `no fence has proven that the node ${WANTED[wanted]}`;
  const renewedMs = lastRenewalMs(lease);
  if (renewedMs === undefined || renewedMs <= proof.provenAtMs) return undefined;
  return `its lease was renewed at ${stamp(renewedMs)}, after the proof of ${stamp(proof.provenAtMs)}: it has to be fenced anew, or its clock is ahead`;
}

/** Of a kubelet's clock and, where the API server tells when it received it, of that one too: a clock that is behind hides no sign of life. */
function lastRenewalMs(lease: Lease | undefined): number | undefined {
  const told = [lease?.spec.renewTime, ...(lease?.metadata.managedFields ?? []).map(({ time }) => time)];
  const times = told.map(timeMs).filter((ms) => ms !== undefined);
  return times.length === 0 ? undefined : Math.max(...times);
}

function stamp(ms: number): string {
  return new Date(ms).toISOString();
}
