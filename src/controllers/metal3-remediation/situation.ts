import { leftAloneBecause } from '../shared/baremetal-host/host.ts';
import type { HostFacts } from '../shared/baremetal-host/host.ts';
import { hasBackup } from '../shared/baremetal-host/node-backup.ts';
import { powerOf } from '../shared/baremetal-host/off-proof.ts';
import type { HostPower } from '../shared/baremetal-host/off-proof.ts';
import { keptBecause, wasOn } from '../shared/baremetal-host/reboot.ts';
import type { ObjectRef } from '../shared/remediation/actions.ts';
import type { OwnerMachine } from '../shared/remediation/owner-machine.ts';
import { finalizerOf, holdKeyOf, OUT_OF_SERVICE, RELEASE } from './names.ts';
import type { RemediationFacts, Snapshot } from './snapshot.ts';

/** A remediation whose Machine and host are there. */
export interface Situation {
  snapshot: Snapshot;
  remediation: RemediationFacts;
  machine: OwnerMachine;
  host: HostFacts;
  holdKey: string;
  isHeld: boolean;
  hasFinalizer: boolean;
  power: HostPower;
}

export function situationOf(snapshot: Snapshot, machine: OwnerMachine, host: HostFacts): Situation {
  const { remediation, node, monotonicMs } = snapshot;
  const holdKey = holdKeyOf(remediation.uid);
  const lifeSeenMs = typeof node === 'object' ? node.lifeSeenMs : undefined;
  return {
    snapshot,
    remediation,
    machine,
    host,
    holdKey,
    isHeld: host.annotations[holdKey] !== undefined,
    hasFinalizer: hasFinalizer(remediation),
    power: powerOf(host, { wasOn: wasOn(host, holdKey), monotonicMs, lifeSeenMs }),
  };
}

export function hasFinalizer({ finalizers, apiVersion }: RemediationFacts): boolean {
  return finalizers.includes(finalizerOf(apiVersion));
}

export function remediationRef({ apiVersion, name, namespace, uid }: RemediationFacts): ObjectRef {
  return { apiVersion, kind: 'Metal3Remediation', name, namespace, uid };
}

/** Over since the beginning of the cycle, as Metal3 counts: at the very end it is. A beginning in the future is of a clock that was set back since, and says nothing. */
export function isTimedOut(lastRemediatedMs: number | undefined, timeoutMs: number, nowMs: number): boolean {
  return lastRemediatedMs === undefined || lastRemediatedMs > nowMs || nowMs >= lastRemediatedMs + timeoutMs;
}

export function isRetryLimitReached({ retryLimit }: { retryLimit: number }, retryCount: number): boolean {
  return retryCount >= retryLimit;
}

/**
 * It stands because of a hold, and by no fault of its host or Node: before its off because of any, afterwards because of a person's stop or a pause alone, and
 * for as long as somebody else keeps its host off, or told its operator to leave it alone.
 */
export function isHeldUp({ remediation, machine, host, holds }: Snapshot, isFull: boolean): boolean {
  if (remediation.isPaused || (machine !== 'gone' && machine.isPaused)) return true;
  if (holds.some(({ isStop }) => isStop)) return true;
  const { phase, isDeleting } = remediation;
  const key = holdKeyOf(remediation.uid);
  const isEnding = isDeleting || machine === 'gone';
  const kept = host === undefined || isEnding ? undefined : phase === 'Waiting' ? keptBecause(host, key) : leftAloneBecause(host);
  if (kept !== undefined) return true;
  const isOnWayBack = isEnding || phase === 'Waiting';
  if (host?.annotations[key] !== undefined) return false;
  return !isOnWayBack && phase === 'Running' && (holds.length > 0 || isFull);
}

/** This phase of this retry lasts for longer than it may, by our own sight of it. */
export function isPhaseOver(
  { monotonicMs, remediation }: Pick<Snapshot, 'monotonicMs' | 'remediation'>,
  timeoutMs: number,
  sinceMs = remediation.phaseSeenMs,
): boolean {
  return monotonicMs - Math.max(sinceMs, remediation.phaseSeenMs) >= timeoutMs;
}

export type Release = 'taint' | 'done' | 'ended';

/** How far the release of this cycle is. */
export function releaseOf({ annotations, retryCount }: RemediationFacts): Release | undefined {
  const [cycle, state] = (annotations[RELEASE] ?? '').split(':');
  return cycle === String(retryCount) ? RELEASES.find((each) => each === state) : undefined;
}

const RELEASES: readonly Release[] = ['taint', 'done', 'ended'];

/** The Node is out of service by a taint that says so. */
export function isTainted({ node }: Snapshot): boolean {
  return typeof node === 'object' && node.taints.some(({ key }) => key === OUT_OF_SERVICE.key);
}

/** By our taint: our mark came before it, and does not say that it is gone. */
export function isOurTaint(snapshot: Snapshot): boolean {
  const mark = snapshot.remediation.annotations[RELEASE];
  return mark !== undefined && !mark.endsWith(':ended') && isTainted(snapshot);
}

/** It is deleted, or its owner is gone, and nothing of it is anywhere but itself: it goes whoever has the node. */
export function isOverWithoutNode(snapshot: Pick<Snapshot, 'remediation' | 'machine' | 'host'>): boolean {
  const { remediation, machine } = snapshot;
  const isEnding = machine === 'gone' || remediation.isDeleting;
  return isEnding && !standsOnHost(snapshot) && !hasBackup(remediation.annotations);
}

/** Something of this remediation stands on its host or its Node, or is still to come back: whoever else wants the node waits for it. */
export function standsOnHost({ remediation, host }: Pick<Snapshot, 'remediation' | 'host'>): boolean {
  const mark = remediation.annotations[RELEASE];
  const isHeld = host?.annotations[holdKeyOf(remediation.uid)] !== undefined;
  const isReleasing = mark !== undefined && !mark.endsWith(':ended');
  const { phase, annotations } = remediation;
  const isComingBack = (phase === 'Running' && hasBackup(annotations)) || (phase === 'Waiting' && hasFinalizer(remediation));
  return isHeld || isReleasing || isComingBack;
}
