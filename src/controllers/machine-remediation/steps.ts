import { leftAloneBecause, unmanagedBecause } from '../shared/baremetal-host/host.ts';
import { runsHere, withdrawOff } from '../shared/baremetal-host/own-node.ts';
import { HARD, holdOff, letOn, otherHolders } from '../shared/baremetal-host/reboot.ts';
import type { OffProof } from '../shared/baremetal-host/off-proof.ts';
import { changesTo } from '../shared/remediation/actions.ts';
import type { ActionEvent, Marks } from '../shared/remediation/actions.ts';
import { nodeRef } from '../shared/remediation/node.ts';
import type { NodeFacts } from '../shared/remediation/node.ts';
import type { Action, Step } from './actions.ts';
import { stillAttached } from './detach.ts';
import { DELETED_POLL_MS, HOLD, POLL_MS } from './names.ts';
import { machineRef } from './situation.ts';
import type { Situation } from './situation.ts';
import { leftOff } from '../shared/reconciler/left-off.ts';

function normal(reason: string, message: string): ActionEvent {
  return { type: 'Normal', reason, message };
}

/** Somebody else is to do something. */
export function wait(phase: Step['phase'], problem?: string): Step {
  return { phase, dueInMs: POLL_MS, ...(problem !== undefined && { problem }) };
}

/** A hold stops what isolates, switches off or releases (P6); it never stops the way back. */
export function unlessHeld({ snapshot }: Situation, step: Step): Step {
  const [hold] = snapshot.holds;
  return hold === undefined ? step : wait('waiting', `waits: ${hold.reason}, ${hold.message}`);
}

export function powerOff(situation: Situation): Step {
  const { host, snapshot } = situation;
  const doubt = leftAloneBecause(host) ?? unmanagedBecause(host);
  if (doubt !== undefined) return wait('waiting', `BareMetalHost ${host.name} is not switched off: ${doubt}`);
  const event = normal('PowerOffRequested', `BareMetalHost ${host.namespace}/${host.name} is to be switched off`);
  const write = holdOff(host, HOLD, HARD);
  // The table writes its own annotation and nothing else.
  const changes = snapshot.settings.mode === 'seed-table' ? write.changes.filter(({ key }) => key === HOLD) : write.changes;
  return unlessHeld(situation, { phase: 'powering-off', actions: [{ ...write, changes, event }], dueInMs: POLL_MS });
}

/** A predecessor has asked for the off of the node that this leader runs on. */
export function mustWithdraw({ snapshot, isAsked, isHeld, power }: Situation): boolean {
  return isAsked && isHeld && power.state !== 'off' && runsHere(snapshot.holds);
}

export function withdraw({ host }: Situation): Step {
  return { phase: 'waiting', actions: [withdrawOff(host, HOLD)], dueInMs: POLL_MS };
}

/** Only a person's stop keeps a host off, and loudly. */
export function powerOn(situation: Pick<Situation, 'host' | 'snapshot'>, before: readonly Action[], reason: string): Step {
  const { host, snapshot } = situation;
  const stop = snapshot.holds.find(({ isStop }) => isStop);
  if (stop !== undefined) return wait('waiting', leftOff(`BareMetalHost ${host.name} stays off: ${stop.reason}, ${stop.message}`));
  const others = otherHolders(host, HOLD);
  const also = others.length === 0 ? '' : `; it stays off until ${others.join(', ')} goes too`;
  const event = normal(reason, `BareMetalHost ${host.namespace}/${host.name} may be switched on${also}`);
  return { phase: 'powering-on', actions: [...before, { ...letOn(host, HOLD), event }], dueInMs: POLL_MS };
}

export function deleteNode(situation: Situation, node: NodeFacts, proof: OffProof): Step {
  if (node.isDeleting) return wait('deleting-node', `node ${node.name} is being deleted, and a finalizer keeps it: check metadata.finalizers`);
  const event = normal('NodeDeleted', `node ${node.name} is deleted so that its workload may start elsewhere: ${proof.detail}`);
  const action: Action = { kind: 'delete-node', target: nodeRef(node), proof, event };
  const attached = stillAttached(situation.snapshot);
  const told = attached === undefined ? {} : { problem: `node ${node.name} is deleted while ${attached}` };
  return unlessHeld(situation, { phase: 'deleting-node', actions: [action], dueInMs: DELETED_POLL_MS, ...told });
}

export function deleteMachine(situation: Situation): Step {
  const message = `its node did not come back after it was switched on: machine ${situation.machine.name} is replaced`;
  const action: Action = {
    kind: 'delete-machine',
    target: machineRef(situation.machine),
    event: { type: 'Warning', reason: 'MachineDeleted', message },
  };
  return unlessHeld(situation, { phase: 'waiting-for-node', actions: [action], dueInMs: POLL_MS });
}

/** One write of annotations of the Machine. */
export function mark({ machine }: Pick<Situation, 'machine'>, wanted: Readonly<Record<string, string | undefined>>, event?: ActionEvent): Action {
  const changes = changesTo(machine.annotations, wanted);
  return { kind: 'annotate', target: machineRef(machine), changes, ...(event !== undefined && { event }) };
}

/** Those of the keys that stand. */
export function cleared(annotations: Marks, keys: readonly string[]): Record<string, undefined> {
  return Object.fromEntries(keys.filter((key) => annotations[key] !== undefined).map((key) => [key, undefined]));
}
