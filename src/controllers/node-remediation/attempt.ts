import { hostRef } from '../shared/baremetal-host/host.ts';
import { changesTo } from '../shared/remediation/actions.ts';
import { nodeRef } from '../shared/remediation/node.ts';
import { askOwner, isFoundIll, machineRef, REMEDIATE_MACHINE, reportRemediated } from '../shared/remediation/owner-machine.ts';
import type { Action, Step } from './actions.ts';
import type { FenceFacts } from '../shared/claims/fence-facts.ts';
import { beforeAnother } from './made-anew.ts';
import { POLL_MS, READY_AGAIN_MS, UNHEALTHY, UNHEALTHY_VALUE } from './names.ts';
import type { Snapshot } from './snapshot.ts';
import { FENCE_WITHDRAWN, remediationEvent, requestRef, reportStatus } from './status.ts';
import { targetOf } from './target.ts';

/** Somebody else is to do something. The words stand in the condition Processing too. */
export function wait(snapshot: Snapshot, problem?: string): Step {
  const { request } = snapshot;
  const told = reportStatus(snapshot, { phase: request.phase, ...(problem !== undefined && { message: problem }) });
  return { actions: told, dueInMs: POLL_MS, ...(problem !== undefined && { problem }) };
}

/** Its fence, which is deleted, has not taken back all that it did. */
export function awaitLetGo(snapshot: Snapshot, fence: FenceFacts): Step {
  return wait(snapshot, `NodeFence ${fence.name} is being let go`);
}

/** Its fence may be under way where nobody can look: nothing is begun, failed or let go, however long that lasts. The look that follows is the usual one. */
export function lost(snapshot: Snapshot): Step | undefined {
  const { request, lostNode } = snapshot;
  const { phase } = request;
  if (lostNode === undefined) return undefined;
  const problem = `there is no Secret that leads to the cluster of node ${lostNode}`;
  if (!request.isDeleting) {
    if (phase === 'Failed' || phase === 'Stopped') return {};
    // Why a fence was withdrawn stands in the same words, and is needed when it is gone.
    if (phase === 'Succeeded' || whyWithdrawn(snapshot) !== undefined) return { problem };
  }
  const event = remediationEvent(phase === '' ? 'CannotStart' : 'Stalled', problem);
  return { actions: reportStatus(snapshot, { phase, message: problem }, event), problem };
}

export function isOurs({ request, fence }: Snapshot): boolean {
  return fence?.requestedByUID === request.uid;
}

/** This phase of this retry lasts for longer than it may, by our own sight of it. */
export function isPhaseOver({ monotonicMs, request }: Snapshot, timeoutMs: number): boolean {
  return monotonicMs - request.phaseSeenMs >= timeoutMs;
}

/** Of a time since the last attempt. One that is dated in the future, by a clock that was set back since, began when we saw what followed it. */
export function leftMs({ request: { lastRemediatedMs, phaseSeenMs }, nowMs, monotonicMs }: Snapshot, timeMs: number): number {
  if (lastRemediatedMs === undefined) return 0;
  return Math.max(0, lastRemediatedMs > nowMs ? phaseSeenMs + timeMs - monotonicMs : lastRemediatedMs + timeMs - nowMs);
}

export function withdraw({ request }: Snapshot, fence: FenceFacts, why: string): Step {
  if (fence.isDeleting) return { dueInMs: POLL_MS };
  const event = remediationEvent('Stopped', `NodeFence ${fence.name} is withdrawn: ${why}`);
  return { actions: [{ kind: 'withdraw-fence', target: requestRef(request), fence: fence.name, event }], dueInMs: POLL_MS };
}

/** Asks for a fence, unless something stands before it. */
export function begin(snapshot: Snapshot): Step {
  const { request, fence, machine, node, inFlight } = snapshot;
  const { settings } = request;
  const target = targetOf(request, machine);
  if (target === undefined || node === undefined) {
    return exhausted(snapshot, target === undefined ? 'it names no node' : `there is no node ${target.node}`, 'CannotStart');
  }
  const another = beforeAnother(snapshot, node);
  if (another !== undefined) return another;
  if (fence !== undefined && fence.isJoinable !== true && (fence.isDeleting || !fence.isFinal)) return behind(snapshot, fence, target.node);
  const isDone = fence?.outcome === 'recovered' && fence.finalAtMs !== undefined && fence.finalAtMs >= request.createdMs;
  if (isDone && node.isReady && request.retryCount === 0) return succeeded(snapshot, `it was recovered by ${fence.owner}`, true);
  if (request.retryCount > 0 && node.isReady) {
    const settled = readyAgain(snapshot, node.name);
    if (settled !== undefined) return settled;
  }
  const coolingMs = request.retryCount > 0 ? leftMs(snapshot, settings.cooldownMs) : 0;
  if (coolingMs > 0) return { dueInMs: coolingMs };
  if (inFlight.limit !== undefined && inFlight.count >= inFlight.limit) {
    return wait(snapshot, `${inFlight.count} remediations are under way, and ${inFlight.limit} may be`);
  }
  const { nodeRemoval, methodRef, strategy } = settings;
  const ending = strategy === 'fence' ? 'off' : undefined;
  const action: Action = { kind: 'request-fence', target: requestRef(request), node: target.node, ending, nodeRemoval, methodRef };
  return { actions: [action], dueInMs: POLL_MS };
}

/** Somebody else's fence is waited for as long as one of our own would be; no time runs while it is held. */
function behind(snapshot: Snapshot, { owner, heldBecause, isOff }: FenceFacts, node: string): Step {
  const { powerOffTimeoutMs, powerOnTimeoutMs } = snapshot.request.settings;
  const taken = `node ${node} is taken by ${owner}`;
  if (heldBecause !== undefined) return wait(snapshot, `${taken}, whose fence is held: ${heldBecause}`);
  if (!isPhaseOver(snapshot, isOff ? powerOffTimeoutMs + powerOnTimeoutMs : powerOffTimeoutMs)) return wait(snapshot, taken);
  return failed(snapshot, `${taken}, and it is not ${isOff ? 'back' : 'proven off'} in time`);
}

/** A node that is Ready by the time of a retry is fenced only for what its health check still finds, when it had the time to look. */
function readyAgain(snapshot: Snapshot, node: string): Step | undefined {
  const { request, machine } = snapshot;
  if (!isPhaseOver(snapshot, READY_AGAIN_MS)) {
    const seconds = READY_AGAIN_MS / 1000;
    return wait(snapshot, `node ${node} is Ready: it is fenced again only if its health check still finds it unhealthy after ${seconds} s`);
  }
  if (typeof machine === 'object' && isFoundIll(machine) === true) return undefined;
  const why = 'its node is Ready again, and is not fenced another time';
  if (request.settings.strategy !== 'fence') return succeeded(snapshot, why, true);
  return { actions: reportStatus(snapshot, { phase: 'Stopped', message: why }, remediationEvent('Stopped', why)) };
}

/** Why its fence was withdrawn, where it was by us. */
export function whyWithdrawn({ request }: Snapshot): string | undefined {
  return request.conditions.find(({ type, reason }) => type === 'Processing' && reason === FENCE_WITHDRAWN)?.message;
}

/** The fence did not do it: again, or the end. A fence of ours that still stands is withdrawn first, so that its absence tells that this is done. */
export function failed(snapshot: Snapshot, why: string): Step {
  const { request, fence, nowMs } = snapshot;
  const { retryCount, settings } = request;
  const isLast = retryCount >= settings.retryLimit;
  if (fence !== undefined && isOurs(snapshot) && !(isLast && settings.onExhaustion === 'LeaveOff')) {
    const { actions = [], ...step } = withdraw(snapshot, fence, why);
    return { ...step, actions: [...reportStatus(snapshot, { phase: request.phase, message: why, isWithdrawn: true }), ...actions] };
  }
  if (isLast) return exhausted(snapshot, why, 'Stopped');
  const again = { phase: '', retryCount: retryCount + 1, lastRemediatedMs: nowMs, message: why } as const;
  return { actions: reportStatus(snapshot, again), dueInMs: POLL_MS };
}

/** Nothing more is tried. Status goes last, so that a crash repeats the rest. */
export function exhausted(snapshot: Snapshot, why: string, reason: 'Stopped' | 'CannotStart'): Step {
  const { request, machine, host, nowMs } = snapshot;
  const { strategy, onExhaustion } = request.settings;
  const event = remediationEvent(reason, strategy === 'escalate' ? `${why}: its owner is asked to replace the machine` : why);
  const asked = strategy === 'escalate' && typeof machine === 'object' ? askOwner(machine, nowMs, event) : undefined;
  const unhealthy = onExhaustion === 'Retire' && host !== undefined ? changesTo(host.annotations, { [UNHEALTHY]: UNHEALTHY_VALUE }) : [];
  return {
    actions: [
      ...(asked === undefined ? [] : [asked]),
      ...(host === undefined || unhealthy.length === 0 ? [] : [{ kind: 'annotate' as const, target: hostRef(host), changes: unhealthy }]),
      ...reportStatus(snapshot, { phase: 'Failed', message: why }, event),
    ],
  };
}

/** It asks for what can not be followed. Nothing was tried, so nobody is asked to replace a machine for a slip in a template, and no host is retired for it. */
export function refused(snapshot: Snapshot, why: string): Step {
  return { actions: reportStatus(snapshot, { phase: 'Failed', message: why }, remediationEvent('CannotStart', why)) };
}

/** `isBack`: the node runs again. Where it stays off, the Machine is not healthy, and its marks stay. */
export function succeeded(snapshot: Snapshot, message: string, isBack: boolean): Step {
  const { machine, fence, nowMs } = snapshot;
  const owner = typeof machine === 'object' && isBack ? machine : undefined;
  const unmark = owner === undefined ? [] : changesTo(owner.annotations, { [REMEDIATE_MACHINE]: undefined });
  const told = owner === undefined ? undefined : reportRemediated(owner, nowMs, message);
  const isNodeGoing = isRemoving(snapshot) || fence?.outcome === 'replaced';
  return {
    actions: [
      ...(owner === undefined || unmark.length === 0 ? [] : [{ kind: 'annotate' as const, target: machineRef(owner), changes: unmark }]),
      ...(told === undefined ? [] : [told]),
      ...reportStatus(snapshot, { phase: 'Succeeded', message, isNodeGoing }, remediationEvent('Finished', message)),
    ],
    dueInMs: POLL_MS,
  };
}

export function isRemoving({ request }: Snapshot): boolean {
  return request.settings.strategy === 'fence' && request.settings.nodeRemoval === 'DeleteNode';
}

/** The Node of a machine that stays off, for good; on the fence's proof alone. `undefined`: it is not to go, or is gone, whatever has its name since. */
export function removal(snapshot: Snapshot, fence: FenceFacts): Step | undefined {
  const { node } = snapshot;
  if (!isRemoving(snapshot) || node === undefined || (fence.nodeUID !== undefined && fence.nodeUID !== node.uid)) return undefined;
  if (!fence.isOff) return wait(snapshot, `node ${node.name} is not deleted: NodeFence ${fence.name} holds no proof of its off any more`);
  if (node.isDeleting) return wait(snapshot, `node ${node.name} is being deleted, and a finalizer keeps it: check metadata.finalizers`);
  const expected = reportStatus(snapshot, { phase: snapshot.request.phase, isNodeGoing: true });
  if (expected.length > 0) return { actions: expected, dueInMs: POLL_MS };
  const event = remediationEvent('Stopped', `node ${node.name} is deleted for good`);
  return { actions: [{ kind: 'delete-node', target: nodeRef(node), fence: { name: fence.name, uid: fence.uid }, event }], dueInMs: POLL_MS };
}
