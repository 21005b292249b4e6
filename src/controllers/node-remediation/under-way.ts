import { offTimeTooShort } from '../../domain/off-time.ts';
import { isFoundIll, reportRemediated } from '../shared/remediation/owner-machine.ts';
import type { Step } from './actions.ts';
import { awaitLetGo, begin, failed, isOurs, isPhaseOver, leftMs, removal, succeeded, wait, whyWithdrawn, withdraw } from './attempt.ts';
import type { FenceFacts } from '../shared/claims/fence-facts.ts';
import { ofAnotherNode } from './made-anew.ts';
import { POLL_MS } from './names.ts';
import type { Snapshot } from './snapshot.ts';
import { remediationEvent, reportStatus } from './status.ts';

/** A request that is wanted: not yet begun, fenced now, or over. */
export function underWay(snapshot: Snapshot): Step {
  const { request, fence } = snapshot;
  const other = fence === undefined || !isOurs(snapshot) || fence.isDeleting ? undefined : ofAnotherNode(snapshot, fence);
  switch (request.phase) {
    case 'Failed':
    case 'Stopped':
      return {};
    case 'Succeeded':
      return afterSuccess(snapshot);
    case '':
      if (fence === undefined || !isOurs(snapshot)) return begin(snapshot);
      return other === undefined ? start(snapshot, fence) : withdraw(snapshot, fence, other);
    case 'Fencing':
    case 'Recovering':
      if (fence === undefined || !isOurs(snapshot)) return failed(snapshot, whyWithdrawn(snapshot) ?? 'its NodeFence is gone');
      if (fence.isDeleting) return whyWithdrawn(snapshot) === undefined ? awaitLetGo(snapshot, fence) : { dueInMs: POLL_MS };
      if (other !== undefined) return failed(snapshot, other);
      return fence.isFinal ? byOutcome(snapshot, fence) : watch(snapshot, fence);
  }
}

function start(snapshot: Snapshot, fence: FenceFacts): Step {
  const event = remediationEvent('Started', `NodeFence ${fence.name} fences the node`);
  const told = { phase: 'Fencing', lastRemediatedMs: snapshot.nowMs, nodeFence: fence.name } as const;
  return { actions: reportStatus(snapshot, told, event), dueInMs: POLL_MS };
}

/** Each part has its time, of which none runs while something holds the fence. */
function watch(snapshot: Snapshot, fence: FenceFacts): Step {
  const { request } = snapshot;
  const { settings, phase } = request;
  if (fence.isStuck) return failed(snapshot, `NodeFence ${fence.name} has given up`);
  if (fence.heldBecause !== undefined) return wait(snapshot, `NodeFence ${fence.name} is held: ${fence.heldBecause}`);
  if (phase === 'Fencing' && fence.isOff) return { actions: reportStatus(snapshot, { phase: 'Recovering' }), dueInMs: POLL_MS };
  const timeoutMs = phase === 'Fencing' ? settings.powerOffTimeoutMs : settings.powerOnTimeoutMs;
  const tooShort = phase === 'Fencing' && fence.delays !== undefined ? offTimeTooShort(timeoutMs, fence.delays) : undefined;
  if (!isPhaseOver(snapshot, timeoutMs)) return wait(snapshot, tooShort);
  const why = phase === 'Fencing' ? 'its node is not proven off in time' : 'its node is not back in time';
  return failed(snapshot, tooShort === undefined ? why : `${why}: ${tooShort}`);
}

function byOutcome(snapshot: Snapshot, fence: FenceFacts): Step {
  const { request } = snapshot;
  const isFenceOnly = request.settings.strategy === 'fence';
  switch (fence.outcome) {
    case 'recovered':
      return succeeded(snapshot, 'its node was fenced, and is back', true);
    case 'replaced':
      return succeeded(snapshot, 'its node was fenced, and is replaced by another', false);
    case 'fenced-off':
      if (!isFenceOnly) return failed(snapshot, `NodeFence ${fence.name} has left its node off`);
      return removal(snapshot, fence) ?? succeeded(snapshot, 'its node was fenced, and stays off', false);
    case 'node-gone':
      return fence.isOff
        ? succeeded(snapshot, 'its node was fenced, and is gone', false)
        : failed(snapshot, 'its node is gone, and was not proven off');
    // untouched, failed, stopped, or nothing at all.
    default:
      return failed(snapshot, `NodeFence ${fence.name} ended ${fence.outcome ?? 'without an outcome'}`);
  }
}

/** What the Machine was not told because the write was refused, or by whom it was overwritten. */
function toldAgain({ machine, request, nowMs }: Snapshot): Step {
  const message = request.conditions.find(({ type }) => type === 'Succeeded')?.message ?? '';
  const told = typeof machine === 'object' ? reportRemediated(machine, nowMs, message) : undefined;
  return told === undefined ? {} : { actions: [told] };
}

/** Whoever asked deletes the request when the node is healthy. One that is not when its time is over, though it may be Ready, is tried again. */
function afterSuccess(snapshot: Snapshot): Step {
  const { request, node, machine } = snapshot;
  const { settings } = request;
  if (settings.strategy === 'fence' || node === undefined) return {};
  const isIll = !node.isReady || (typeof machine === 'object' && isFoundIll(machine) === true);
  if (!isIll) return toldAgain(snapshot);
  const restMs = leftMs(snapshot, settings.timeoutMs);
  if (restMs > 0 || !isPhaseOver(snapshot, settings.timeoutMs)) return { dueInMs: Math.max(POLL_MS, restMs) };
  return failed(snapshot, 'its node is not healthy in time after it was fenced');
}
