import { microTimestamp } from '../ports/clock.ts';
import type { Clock } from '../ports/clock.ts';
import type { Lease } from '../ports/objects.ts';
import { isOlder } from './resource-version.ts';

/** What a candidate last saw of the Lease, and since when it has stood so. */
export interface LeaseObservation {
  /** Undefined: there is no Lease. */
  lease: Lease | undefined;
  /** Monotonic time at which this candidate first saw the record as it is. */
  sinceMs: number;
}

/** Of a Lease that was given back. */
const GIVEN_BACK_SECONDS = 1;

/** A new observation; keeps the time of the first one while the holder's record is unchanged. A label or annotation is no change. */
export function observed(previous: LeaseObservation | undefined, lease: Lease | undefined, nowMs: number): LeaseObservation {
  const isUnchanged = previous !== undefined && recordOf(previous.lease) === recordOf(lease);
  return { lease, sinceMs: isUnchanged ? previous.sinceMs : nowMs };
}

/** The same by a watch, which may be behind a look: only what is of the same Lease and not older counts. */
export function seen(previous: LeaseObservation | undefined, lease: Lease, nowMs: number): LeaseObservation | undefined {
  const known = previous?.lease?.metadata;
  const { uid, resourceVersion = '' } = lease.metadata;
  return known === undefined || known.uid !== uid || isOlder(resourceVersion, known.resourceVersion) ? previous : observed(previous, lease, nowMs);
}

function recordOf(lease: Lease | undefined): string {
  if (lease === undefined) {
    return '';
  }
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = lease.spec;
  return JSON.stringify([lease.metadata.uid, holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions]);
}

/**
 * How long a candidate must still wait before it may take the Lease. Counted on its own clock from its own first sight; other machines' time
 * stamps are never compared. A holder that gave the Lease back has stopped, and left the shortest duration; where somebody else emptied it, its holder may not
 * know. A Lease that is not there tells nothing: it may have been deleted, or taken away by a restore of etcd together with all that its holder ever wrote, while
 * that holder still believes in it.
 */
export function waitBeforeTaking(observation: LeaseObservation, ownDurationMs: number, nowMs: number): number {
  const { lease, sinceMs } = observation;
  if (lease === undefined) {
    return Math.max(0, sinceMs + ownDurationMs - nowMs);
  }
  const recordedSeconds = lease.spec.leaseDurationSeconds ?? 0;
  if ((lease.spec.holderIdentity ?? '') === '' && recordedSeconds <= GIVEN_BACK_SECONDS) {
    return 0;
  }
  const recordedMs = recordedSeconds * 1000;
  return Math.max(0, sinceMs + Math.max(ownDurationMs, recordedMs) - nowMs);
}

/** Why a candidate waits, in words. Without holder: `undefined` there is no Lease, '' it is free. */
export function reasonToWait(holder: string | undefined, waitMs: number): string {
  const rest = `${String(Math.ceil(waitMs / 1000))} s`;
  if (holder === undefined) {
    return `there is no Lease: a leader whose Lease was deleted, or lost in a restore of etcd, may act for ${rest} more; then the Lease is created`;
  }
  if (holder !== '') return `${holder} holds the lease`;
  return waitMs > 0 ? `the Lease names no holder, and whoever held it last may act for ${rest} more` : 'the lease is free and not taken yet';
}

/**
 * What is told where a Lease reads older than it was seen: a consistent read never does, but where etcd was restored. The holder writes every two
 * seconds, so that few restores escape.
 */
export function restored(before: Lease | undefined, lease: Lease | undefined): string | undefined {
  const [seen, shown] = [before?.metadata, lease?.metadata];
  if (shown?.resourceVersion === undefined || shown.uid !== seen?.uid || !isOlder(shown.resourceVersion, seen?.resourceVersion)) return undefined;
  const versions = `version ${shown.resourceVersion}, older than ${seen?.resourceVersion ?? ''} that was seen before`;
  return `leases/${shown.name} has ${versions}: was etcd restored from a backup? Everything is listed anew`;
}

export interface Claim {
  namespace: string;
  name: string;
  identity: string;
  durationMs: number;
  /** Becomes leaseTransitions. */
  epoch: number;
  /** What the holder says of itself; set over those of the last holder. */
  annotations?: Readonly<Record<string, string>>;
}

/** The Lease as its new holder writes it; labels and foreign annotations of the old one stay. */
export function claimed(existing: Lease | undefined, claim: Claim, clock: Clock): Lease {
  const now = microTimestamp(clock);
  const metadata = existing?.metadata ?? { name: claim.name, namespace: claim.namespace };
  const said = claim.annotations === undefined ? {} : { annotations: { ...metadata.annotations, ...claim.annotations } };
  return {
    ...existing,
    metadata: { ...metadata, ...said },
    spec: {
      ...existing?.spec,
      holderIdentity: claim.identity,
      leaseDurationSeconds: Math.ceil(claim.durationMs / 1000),
      acquireTime: now,
      renewTime: now,
      leaseTransitions: claim.epoch,
    },
  };
}

/** By the holder of `epoch`: a Lease that was restored from a backup may stand at an earlier term of the same holder. */
export function renewed(lease: Lease, clock: Clock, epoch: number): Lease {
  return { ...lease, spec: { ...lease.spec, renewTime: microTimestamp(clock), leaseTransitions: notBelow(lease, epoch) } };
}

/** Without holder: the next candidate need not wait. The epoch stays, or is the one that the next is to be above. */
export function emptied(lease: Lease, clock: Clock, epoch = 0): Lease {
  const leaseTransitions = notBelow(lease, epoch);
  return {
    ...lease,
    spec: { ...lease.spec, holderIdentity: '', leaseDurationSeconds: GIVEN_BACK_SECONDS, renewTime: microTimestamp(clock), leaseTransitions },
  };
}

/** What the Lease says of terms only grows: the next one is to be above all of them. */
function notBelow(lease: Lease, epoch: number): number {
  return Math.max(lease.spec.leaseTransitions ?? 0, epoch);
}
