import type { Expectations } from './expectations.ts';
import type { History, ApiAction } from './history.ts';
import { hostOffBehind } from './host-off.ts';
import { Verdict } from './law.ts';
import type { Law } from './law.ts';
import { provenFrom, stableOffs } from './proof.ts';
import type { StableOff } from './proof.ts';
import { revocationBehind } from './revocation.ts';
import { waitBehind } from './wait.ts';
import { wordBehind } from './word.ts';
import type { ApiEvent } from './trace.ts';

/** P2, evidence expires: after the reads that it rests on, Node and Lease are read once more, and no sign of life came before the release. */
export const expiringEvidence: Law = (history, expectations) => {
  const verdict = new Verdict();
  for (const release of history.releases) {
    const complaint = complaintOf(history, expectations, release);
    verdict.check(complaint === undefined, release.at, `${release.what}, but ${complaint ?? ''}`);
  }
  return verdict;
};

function complaintOf(history: History, expectations: Expectations, release: ApiAction): string | undefined {
  const without = withoutReads(history, expectations, release);
  if (without?.isToLive === true) return unreadSince(history, release, without.from);
  if (without !== undefined) {
    const signs = history.lifeSigns(release.node, without.anewAfter === undefined ? without.from : -1, release.position);
    const sign = signs.findLast((one) => without.anewAfter === undefined || !isOnItsWay(history, expectations, release, one));
    const anew = sign === undefined ? (without.unreadFrom ?? without.from) : without.anewAfter?.(sign.position);
    return sign !== undefined && anew === undefined
      ? `${written(release, sign)}, after ${without.what}`
      : unreadSince(history, release, anew ?? without.from);
  }
  const offs = stableOffs(history, release, expectations);
  const complete = completeAt(offs, expectations);
  // A sign of life voids what was read before it, in the midst of the reads too; they may have gone on and proved it anew.
  const sign = history.lifeSigns(release.node, complete === undefined ? lastReadOf(offs) : -1, release.position).at(-1);
  const anew = sign === undefined ? complete : completeAt(since(offs, sign.position), expectations);
  if (sign !== undefined && anew === undefined) {
    return `${written(release, sign)}, after the first of the off reads that it needs`;
  }
  const first = complete ?? lastReadOf(offs);
  return unreadSince(history, release, anew ?? first);
}

/**
 * What went out on a read of Node and Lease that showed nothing, and was on its way when a kubelet that lives on wrote: nobody had received that. A machine that
 * is off writes nothing, so that it is so only of a storage that was closed. Whoever lets go reads the Lease too; a Node alone is read by others, for their own ends.
 */
function isOnItsWay(history: History, { stopGraceMs }: Expectations, { node, position, at }: ApiAction, sign: { position: number }): boolean {
  const between = history.controllerCalls.filter((call) => call.position < position && at - call.event.at <= stopGraceMs);
  const reads = between.filter(({ event }) => event.verb === 'get' && event.name === node);
  const lease = reads.findLast(({ event }) => isNodeLease(event))?.position ?? Infinity;
  return sign.position > lease && reads.some((read) => isNode(read.event) && read.position < sign.position);
}

function isNode({ resource }: ApiEvent): boolean {
  return resource === 'nodes';
}

function isNodeLease({ resource, namespace }: ApiEvent): boolean {
  return resource === 'leases.coordination.k8s.io' && namespace === 'kube-node-lease';
}

/** Evidence that rests on no reads of devices: from where a sign of life voids it, and from where Node and Lease are to be read, when later. */
interface OtherEvidence {
  what: string;
  from: number;
  unreadFrom?: number;
  /** The machine may live on, and be proven cut off anew by what is read after a place. */
  anewAfter?: (place: number) => number | undefined;
  /** The node is asked to be isolated only: that it lives says nothing against it. */
  isToLive?: boolean;
}

function withoutReads(history: History, expectations: Expectations, release: ApiAction): OtherEvidence | undefined {
  const word = wordBehind(history, release);
  if (word !== undefined) return { what: "the person's word", from: word.acceptedPosition };
  const revocation = revocationBehind(history, expectations, release);
  if (revocation !== undefined) {
    const { position, isToLive, anewAfter } = revocation;
    return { what: 'the last read of its storage', from: position, isToLive, anewAfter };
  }
  const wait = waitBehind(history, release);
  if (wait !== undefined) return { what: 'the wait for its end began', from: wait.beganPosition, unreadFrom: wait.provenPosition };
  const hostOff = hostOffBehind(history, release);
  return hostOff && { what: 'its BareMetalHost was said to be off', from: hostOff.toldPosition };
}

function written(release: ApiAction, { value, at }: { at: number; value: ApiEvent }): string {
  return `the kubelet of ${release.node} had written ${value.resource} at ${String(at)}`;
}

function unreadSince(history: History, release: ApiAction, rest: number): string | undefined {
  const has = (wanted: (event: ApiEvent) => boolean): boolean =>
    history.controllerCalls.some(
      ({ position, event }) => position > rest && position < release.position && event.verb === 'get' && event.name === release.node && wanted(event),
    );
  if (!has(isNode)) return `Node ${release.node} was not read after the last off read`;
  return has(isNodeLease) ? undefined : `the Lease of ${release.node} was not read after the last off read`;
}

/** The position at which every device had been proven off; `undefined` when one never was. */
function completeAt(offs: readonly StableOff[], expectations: Expectations): number | undefined {
  const positions = offs.map((off) => provenFrom(off, expectations)?.position);
  return positions.length === 0 || positions.includes(undefined) ? undefined : Math.max(...positions.map((position) => position ?? -1));
}

function since(offs: readonly StableOff[], from: number): StableOff[] {
  return offs.map(({ device, reads }) => ({ device, reads: reads.filter(({ position }) => position > from) }));
}

/** Where to look from when nothing was proven, which is for P1 to say. */
function lastReadOf(offs: readonly StableOff[]): number {
  return Math.max(-1, ...offs.flatMap(({ reads }) => reads.map(({ position }) => position)));
}
