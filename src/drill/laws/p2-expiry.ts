import type { ApiEvent } from './trace.ts';
import type { History, ReleaseAct } from './history.ts';
import { Verdict } from './law.ts';
import type { Law } from './law.ts';
import { provenFrom, stableOffs } from './proof.ts';

/** P2, evidence expires: after the reads that it rests on, Node and Lease are read once more, and no sign of life came before the release. */
export const expiringEvidence: Law = (history, expectations) => {
  const verdict = new Verdict();
  for (const release of history.releases) {
    const proofs = stableOffs(history, release).map((off) => ({ off, proven: provenFrom(off, expectations) }));
    const earliest = Math.max(-1, ...proofs.map(({ proven }) => proven?.position ?? -1));
    const later = proofs.flatMap(({ off }) => off.reads.filter(({ position }) => position >= earliest)).map(({ position }) => position);
    // Reads may go on after the evidence stood; the release may rest on any of them.
    const rests = later.length === 0 ? [earliest] : later;
    const sound = rests.find((rest) => complaintSince(history, release, rest) === undefined);
    const complaint = sound === undefined ? complaintSince(history, release, Math.min(...rests)) : undefined;
    verdict.check(complaint === undefined, release.at, `${release.what}, but ${complaint ?? ''}`);
  }
  return verdict;
};

function complaintSince(history: History, release: ReleaseAct, rest: number): string | undefined {
  const reads = history.controllerCalls.filter(({ position, event }) => event.verb === 'get' && position > rest && position < release.position);
  const has = (wanted: (event: ApiEvent) => boolean): boolean => reads.some(({ event }) => event.name === release.node && wanted(event));
  if (!has((event) => event.resource === 'nodes')) return `Node ${release.node} was not read after the last off read`;
  const isLease = (event: ApiEvent): boolean => event.resource === 'leases.coordination.k8s.io' && event.namespace === 'kube-node-lease';
  if (!has(isLease)) return `the Lease of ${release.node} was not read after the last off read`;
  const sign = history.lifeSigns(release.node, rest, release.position)[0];
  return sign === undefined
    ? undefined
    : `the kubelet of ${release.node} had written ${sign.resource} at ${String(sign.at)}, after the last off read`;
}
