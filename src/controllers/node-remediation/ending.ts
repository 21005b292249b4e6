import { reportRemediated } from '../shared/remediation/owner-machine.ts';
import type { Action, Step } from './actions.ts';
import { awaitLetGo, isOurs, isPhaseOver, isRemoving, withdraw } from './attempt.ts';
import type { FenceFacts } from '../shared/claims/fence-facts.ts';
import { finalizerOf, NODE_UID, POLL_MS } from './names.ts';
import type { RequestFacts, Snapshot } from './snapshot.ts';
import { remediationEvent, requestRef, reportStatus } from './status.ts';

/** `nodeUID`: of the Node that a request means that is taken up. */
export function setFinalizer(request: RequestFacts, isPresent: boolean, nodeUID?: string): Action {
  const annotations = nodeUID === undefined ? {} : { annotations: { [NODE_UID]: nodeUID } };
  return { kind: 'finalizer', target: requestRef(request), finalizer: finalizerOf(request.apiVersion), isPresent, ...annotations };
}

export function hasFinalizer({ finalizers, apiVersion }: RequestFacts): boolean {
  return finalizers.includes(finalizerOf(apiVersion));
}

/**
 * The request is deleted, or its Machine is gone. Before an off was sent the fence is cancelled; after it, the fence is left to bring the node back first. What
 * stays off for its sake is brought back, unless its Node has gone for good. Whether the Node exists is not asked: a request never outlives its node for that.
 */
export function ending(snapshot: Snapshot): Step {
  const { request, fence, machine } = snapshot;
  if (!hasFinalizer(request)) return {};
  if (fence !== undefined && isOurs(snapshot)) {
    if (fence.isDeleting) return behindFence(snapshot, fence);
    if (!fence.isFinal) return endOpen(snapshot, fence, machine === 'gone');
    const hasGone = isRemoving(snapshot) && snapshot.node === undefined;
    if (fence.outcome === 'fenced-off' && !hasGone) return withdraw(snapshot, fence, 'its node may come back');
  }
  return { actions: [...reportHealthy(snapshot), setFinalizer(request, false)] };
}

/** It takes back what it did. Where that takes longer than the whole way there and back might have, it waits for something: this request says so. */
function behindFence(snapshot: Snapshot, fence: FenceFacts): Step {
  const { powerOffTimeoutMs, powerOnTimeoutMs } = snapshot.request.settings;
  return isPhaseOver(snapshot, powerOffTimeoutMs + powerOnTimeoutMs) ? awaitLetGo(snapshot, fence) : { dueInMs: POLL_MS };
}

/** A health check deletes its request as soon as the node is healthy, mostly before its fence is over: what it said of the Machine is ours to set right. */
function reportHealthy({ request, machine, node, nowMs }: Snapshot): Action[] {
  if (!request.isDeleting || typeof machine !== 'object' || node?.isReady !== true) return [];
  const told = reportRemediated(machine, nowMs, 'its node is healthy again');
  return told === undefined ? [] : [told];
}

function endOpen(snapshot: Snapshot, fence: FenceFacts, isOwnerGone: boolean): Step {
  const { settings } = snapshot.request;
  if (isOwnerGone) return withdraw(snapshot, fence, 'its Machine is gone');
  if (!fence.isOffSent) return withdraw(snapshot, fence, 'it was cancelled before the node was switched off');
  if (settings.strategy === 'fence') return withdraw(snapshot, fence, 'its node may come back');
  if (fence.isStuck) return withdraw(snapshot, fence, 'it has given up');
  if (isPhaseOver(snapshot, settings.powerOffTimeoutMs + settings.powerOnTimeoutMs)) return withdraw(snapshot, fence, 'its node is not back in time');
  return { dueInMs: POLL_MS };
}

/** medik8s has given us up: nothing new is begun. What was switched off is brought back by its fence; the request stays until it is deleted. */
export function timedOut(snapshot: Snapshot): Step {
  const { request, fence } = snapshot;
  if (request.phase !== 'Stopped') {
    const event = remediationEvent('Stopped', 'the health check has timed it out');
    return { actions: reportStatus(snapshot, { phase: 'Stopped', message: 'timed out by the health check' }, event), dueInMs: POLL_MS };
  }
  if (fence === undefined || !isOurs(snapshot) || fence.isFinal || fence.isOffSent) return {};
  return withdraw(snapshot, fence, 'it was stopped before the node was switched off');
}
