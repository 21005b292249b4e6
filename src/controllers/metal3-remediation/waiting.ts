import { dropBackup, hasBackup, lostEvent, restoreNode } from '../shared/baremetal-host/node-backup.ts';
import { keptBecause } from '../shared/baremetal-host/reboot.ts';
import { changesTo } from '../shared/remediation/actions.ts';
import type { NodeFacts } from '../shared/remediation/node.ts';
import { isFoundIll, machineRef, REMEDIATE_MACHINE } from '../shared/remediation/owner-machine.ts';
import type { OwnerMachine } from '../shared/remediation/owner-machine.ts';
import type { Action, Step } from './actions.ts';
import { POLL_MS } from './names.ts';
import { hasFinalizer as isAtWork, isPhaseOver, isTimedOut, remediationRef } from './situation.ts';
import type { Situation } from './situation.ts';
import { awaitObservation, nextAttempt, NOT_RESTORED, setFinalizer, wait, wayBack } from './steps.ts';
import type { RemediationFacts, Snapshot } from './snapshot.ts';

/** Phase Waiting: power on, the Node comes back, what was kept is put back. */
export function waiting(situation: Situation): Step {
  const { snapshot, host, hasFinalizer } = situation;
  const back = wayBack(snapshot, host);
  if (back.dueInMs !== undefined) return back;
  if (snapshot.node === 'unknown') return awaitObservation();
  const isOn = host.power?.isOn === true;
  if (isOn && hasFinalizer) {
    if (snapshot.node === 'forbidden') return unread(situation);
    if (typeof snapshot.node === 'object' && isBack(snapshot, snapshot.node, host.power?.seenMs ?? 0)) return finish(situation, snapshot.node);
  }
  const kept = keptBecause(host, situation.holdKey);
  if (kept !== undefined && !isFoundWell(snapshot)) return wait(`BareMetalHost ${host.name} is waited for: ${kept}`);
  if (isOverdue(snapshot) && !isFoundWell(snapshot)) return nextAttempt(situation, overdueBecause(situation));
  return wait(isOn ? undefined : troubleOf(situation));
}

/** What was kept of a Node that may not be read is not given up before its time is over. */
function unread({ snapshot, remediation, machine }: Situation): Step {
  if (!hasBackup(remediation.annotations)) return { actions: [...unmark(machine), setFinalizer(remediation, false)], dueInMs: POLL_MS };
  if (!isOverdue(snapshot)) return wait();
  return { actions: [...unmark(machine), setFinalizer(remediation, false, NOT_RESTORED)], dueInMs: POLL_MS };
}

function overdueBecause({ host, hasFinalizer }: Situation): string {
  if (host.power?.isOn !== true) return `BareMetalHost ${host.name} is not on`;
  return hasFinalizer ? 'the node is not back' : 'the node is back, and whoever asked has not found the machine healthy';
}

function troubleOf({ host }: Situation): string | undefined {
  return host.errorType === '' ? undefined : `BareMetalHost ${host.name} is not on: ${host.errorType} ${host.errorMessage ?? ''}`.trim();
}

/** As Metal3 counts it, and never less than the time that the way back is given by itself. */
export function isOverdue(snapshot: Snapshot): boolean {
  const { settings, lastRemediatedMs } = snapshot.remediation;
  return isTimedOut(lastRemediatedMs, settings.timeoutMs, snapshot.nowMs) && isPhaseOver(snapshot, settings.powerOnTimeoutMs);
}

/** It is done, and its health check finds the machine healthy: that nobody has deleted it is no reason to power-cycle that again. */
export function isFoundWell({ remediation, machine, node }: Snapshot): boolean {
  // Of a Node that may not be read its health check alone can tell.
  const mayBeWell = node === 'forbidden' || (typeof node === 'object' && node.isReady);
  return !isAtWork(remediation) && mayBeWell && machine !== 'gone' && isFoundIll(machine) === false;
}

/** A Node that was deleted is back when it is there. One that stayed, whether its pods were let go or not, must have been heard since the host came on. */
function isBack({ remediation }: Snapshot, { isDeleting, isReady, lifeSeenMs }: NodeFacts, onSeenMs: number): boolean {
  if (isDeleting) return false;
  if (hasBackup(remediation.annotations)) return true;
  return isReady && lifeSeenMs !== undefined && lifeSeenMs > onSeenMs;
}

/** What was kept first; that it is done with goes with the end, for by it a Node that was deleted is known. */
function finish(situation: Situation, node: NodeFacts): Step {
  const { remediation, machine } = situation;
  const back = putBack(remediation, node);
  if (back.some(({ kind }) => kind === 'restore-node')) return { actions: back };
  const end = finished(remediation, machine, node);
  return { ...end, actions: [...back, ...(end.actions ?? [])] };
}

/** The finalizer last, which says that all is done. */
export function finished(remediation: RemediationFacts, machine: OwnerMachine, node: NodeFacts): Step {
  const event = { type: 'Normal', reason: 'RemediationFinished', message: `node ${node.name} is back` } as const;
  return { actions: [...unmark(machine), setFinalizer(remediation, false, event)], dueInMs: POLL_MS };
}

/** Labels and annotations of the Node, then the backup goes; empty: nothing is kept. */
export function putBack(remediation: RemediationFacts, node: NodeFacts): Action[] {
  if (!hasBackup(remediation.annotations)) return [];
  const restore = restoreNode(remediation.annotations, node);
  if (restore !== undefined) return [restore];
  const event = lostEvent(remediation.annotations);
  const changes = dropBackup(remediation.annotations);
  return [{ kind: 'annotate', target: remediationRef(remediation), changes, ...(event !== undefined && { event }) }];
}

/** A person's word is done with: a health check would count the machine as unhealthy for ever. */
function unmark(machine: OwnerMachine): Action[] {
  const changes = changesTo(machine.annotations, { [REMEDIATE_MACHINE]: undefined });
  return changes.length === 0 ? [] : [{ kind: 'annotate', target: machineRef(machine), changes }];
}
