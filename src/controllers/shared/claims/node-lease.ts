import { microTimestamp } from '../../../ports/clock.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Lease } from '../../../ports/objects.ts';

/**
 * The node lease of medik8s (reference kubernetes-peers.md, section 6): Lease `node-<name>` by which NodeHealthCheck, NodeMaintenance and others leave a node
 * to one of them. Everything here is a pure decision on what was seen and when; the shell is node-leases.ts.
 */
export const NODE_LEASE_HOLDER = 'nodefence';
/** How long others wait for us when we are gone; renewed three times as often while a fence is open. */
export const NODE_LEASE_DURATION_MS = 300_000;
const NAME_PREFIX = 'node-';
/** NodeHealthCheck holds the lease while a remediation that it asked for is under way. */
const REQUESTERS = 'NodeHealthCheck-';

/** A record, and since when it has stood so, on our monotonic clock. */
export interface LeaseObservation {
  lease: Lease;
  sinceMs: number;
}

/** `untilMs`: when it is over if its holder does not renew it; the holder's own clock is never asked. */
export type NodeLeaseState =
  | { kind: 'free' }
  | { kind: 'ours'; sinceMs: number }
  | { kind: 'foreign'; holder: string; durationMs: number; untilMs: number };

export function nodeLeaseName(node: string): string {
  return NAME_PREFIX + node;
}

/** The node that a Lease is about; `undefined` for any other Lease. */
export function nodeOfLease({ metadata }: Lease): string | undefined {
  return metadata.name.startsWith(NAME_PREFIX) ? metadata.name.slice(NAME_PREFIX.length) : undefined;
}

/** A new sight; the time of the first one stays while the record is unchanged. A label or annotation is no change. */
export function seeNodeLease(previous: LeaseObservation | undefined, lease: Lease, nowMs: number): LeaseObservation {
  const isUnchanged = previous !== undefined && recordOf(previous.lease) === recordOf(lease);
  return { lease, sinceMs: isUnchanged ? previous.sinceMs : nowMs };
}

/** Who has the node now, as `own` sees it. A foreign record is valid for its whole duration from our first sight of it, however old its time stamps are. */
export function nodeLeaseState(observation: LeaseObservation | undefined, nowMs: number, own = NODE_LEASE_HOLDER): NodeLeaseState {
  const { holderIdentity: holder = '', leaseDurationSeconds = 0 } = observation?.lease.spec ?? {};
  if (observation === undefined || holder === '') return { kind: 'free' };
  if (holder === own) return { kind: 'ours', sinceMs: observation.sinceMs };
  const durationMs = leaseDurationSeconds * 1_000;
  const untilMs = observation.sinceMs + durationMs;
  return nowMs <= untilMs ? { kind: 'foreign', holder, durationMs, untilMs } : { kind: 'free' };
}

/** The holder is who asked for this very fence: its lease protects what we do. */
export function isRequesters(holder: string, requestedBy: { kind: string } | undefined): boolean {
  return requestedBy !== undefined && requestedBy.kind !== 'Person' && holder.startsWith(REQUESTERS);
}

/** `Lease medik8s-leases/node-a of node-maintenance`. */
export function describeLease(namespace: string, node: string, holder: string): string {
  return `Lease ${namespace}/${nodeLeaseName(node)} of ${holder}`;
}

/** Why a fence waits for the holder of a Lease; the judge of drills reads it too (src/laws/p6-holds.ts). */
export function leaseHold(namespace: string, node: string, holder: string, durationMs: number): string {
  return `${describeLease(namespace, node, holder)} is held: this node is theirs until it is deleted, or is not renewed for ${durationMs / 1_000} s`;
}

/** What a Lease says when we take it: created, or in place of one that is free or over. */
export function takenSpec(existing: Lease | undefined, clock: Clock, own = NODE_LEASE_HOLDER): Lease['spec'] {
  const now = microTimestamp(clock);
  return {
    holderIdentity: own,
    leaseDurationSeconds: NODE_LEASE_DURATION_MS / 1_000,
    acquireTime: now,
    renewTime: now,
    leaseTransitions: existing === undefined ? 0 : (existing.spec.leaseTransitions ?? 0) + 1,
  };
}

function recordOf({ metadata, spec }: Lease): string {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = spec;
  return JSON.stringify([metadata.uid, holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions]);
}
