import { letOn, otherHolders } from '../shared/baremetal-host/reboot.ts';
import { hostRef } from '../shared/baremetal-host/host.ts';
import type { HostFacts } from '../shared/baremetal-host/host.ts';
import { changesTo } from '../shared/remediation/actions.ts';
import type { ActionEvent } from '../shared/remediation/actions.ts';
import { nodeRef } from '../shared/remediation/node.ts';
import { askOwner } from '../shared/remediation/owner-machine.ts';
import type { Action, RemediationStatus, Step } from './actions.ts';
import { finalizerOf, holdKeyOf, OUT_OF_SERVICE, POLL_MS, SHORT_POLL_MS, UNHEALTHY, UNHEALTHY_VALUE } from './names.ts';
import { isOurTaint, isRetryLimitReached, remediationRef } from './situation.ts';
import type { Situation } from './situation.ts';
import type { RemediationFacts, Snapshot } from './snapshot.ts';
import { leftOff } from '../shared/reconciler/left-off.ts';

/** Somebody else is to do something. */
export function wait(problem?: string): Step {
  return { dueInMs: POLL_MS, ...(problem !== undefined && { problem }) };
}

/** Nothing is begun, and nobody given up, on what was not heard. */
export function awaitObservation(): Step {
  return wait('the cluster of its node can not be asked: nothing is begun, and its time begins when it can');
}

/** Behind the last chance to put it back. */
export const NOT_RESTORED: ActionEvent = {
  type: 'Warning',
  reason: 'NodeNotRestored',
  message: 'its Node did not come back in time: labels and annotations that were kept are lost',
};

/** A hold stops what isolates, switches off or releases (P6); it never stops the way back. */
export function unlessHeld({ holds }: Snapshot, step: Step): Step {
  const [hold] = holds;
  return hold === undefined ? step : wait(`waits: ${hold.reason}, ${hold.message}`);
}

export function setStatus(remediation: RemediationFacts, to: Partial<RemediationStatus>, event?: ActionEvent): Action {
  const { phase, retryCount, lastRemediatedMs } = remediation;
  const was = { phase, retryCount, lastRemediatedMs };
  return { kind: 'status', target: remediationRef(remediation), was, to: { ...was, ...to }, ...(event !== undefined && { event }) };
}

export function setFinalizer(remediation: RemediationFacts, isPresent: boolean, event?: ActionEvent): Action {
  const { apiVersion } = remediation;
  const target = remediationRef(remediation);
  return { kind: 'finalizer', target, finalizer: finalizerOf(apiVersion), isPresent, ...(event !== undefined && { event }) };
}

/** Its own annotations, in one write. */
export function note(remediation: RemediationFacts, wanted: Readonly<Record<string, string | undefined>>): Action {
  return { kind: 'annotate', target: remediationRef(remediation), changes: changesTo(remediation.annotations, wanted) };
}

/** Our taint goes first, for a tainted node is never started by us (P3); then the hold. Only a person's stop keeps a host off, and loudly. */
export function wayBack(snapshot: Snapshot, host: HostFacts | undefined): Step {
  if (isOurTaint(snapshot)) return { actions: untaint(snapshot), dueInMs: SHORT_POLL_MS };
  const key = holdKeyOf(snapshot.remediation.uid);
  if (host?.annotations[key] === undefined) return {};
  const stopped = stopOf(snapshot, host);
  if (stopped !== undefined) return wait(stopped);
  const others = otherHolders(host, key);
  const also = others.length === 0 ? '' : `; it stays off until ${others.join(', ')} goes too`;
  const event: ActionEvent = { type: 'Normal', reason: 'PowerOnRequested', message: `BareMetalHost ${host.name} may be switched on${also}` };
  return { actions: [{ ...letOn(host, key), event }], dueInMs: POLL_MS };
}

/** What a person's stop keeps from going on, in words; `undefined`: none stands. */
function stopOf({ holds, remediation }: Snapshot, host: HostFacts | undefined): string | undefined {
  const stop = holds.find(({ isStop }) => isStop);
  if (stop === undefined) return undefined;
  const why = `${stop.reason}, ${stop.message}`;
  return host?.annotations[holdKeyOf(remediation.uid)] === undefined ? `waits: ${why}` : leftOff(`BareMetalHost ${host.name} stays off: ${why}`);
}

/** For ours only: see isOurTaint. */
export function untaint({ node }: Snapshot): Action[] {
  if (typeof node !== 'object') return [];
  const event: ActionEvent = { type: 'Normal', reason: 'OutOfServiceEnded', message: `node ${node.name} is no longer tainted out of service` };
  return [{ kind: 'taint', target: nodeRef(node), taint: OUT_OF_SERVICE, isPresent: false, event }];
}

/** What a cycle was tried on. */
export type Tried = Pick<Situation, 'snapshot' | 'remediation' | 'machine'> & { host: HostFacts | undefined };

/**
 * Again, or at the limit: the owner is asked to replace the Machine. Status goes last, so that a crash repeats the rest; then the way back begins. Under a
 * person's stop none of it: neither is the host let on, nor does its owner take it down.
 */
export function nextAttempt({ snapshot, remediation, machine, host }: Tried, why: string, before: readonly Action[] = []): Step {
  const stopped = stopOf(snapshot, host);
  if (stopped !== undefined) return wait(`${stopped}; ${why}`);
  const { retryCount, settings } = remediation;
  if (!isRetryLimitReached(settings, retryCount)) {
    const event: ActionEvent = {
      type: 'Warning',
      reason: 'RemediationRetried',
      message: `${why}: retry ${retryCount + 1} of ${settings.retryLimit}`,
    };
    const status = setStatus(remediation, { phase: 'Running', retryCount: retryCount + 1, lastRemediatedMs: snapshot.nowMs }, event);
    return { actions: [...before, status], dueInMs: SHORT_POLL_MS };
  }
  const event: ActionEvent = {
    type: 'Warning',
    reason: 'RemediationExhausted',
    message: `${why}: the owner of machine ${machine.name} is asked to replace it`,
  };
  const asked = askOwner(machine, snapshot.nowMs, event);
  const unhealthy = host === undefined ? [] : changesTo(host.annotations, { [UNHEALTHY]: UNHEALTHY_VALUE });
  const actions: Action[] = [
    ...(asked === undefined ? [] : [asked]),
    ...(host === undefined || unhealthy.length === 0 ? [] : [{ kind: 'annotate' as const, target: hostRef(host), changes: unhealthy }]),
    setStatus(remediation, { phase: 'Deleting machine' }),
  ];
  return { actions, dueInMs: SHORT_POLL_MS };
}
