import type { Action, ActionEvent } from './actions.ts';
import { drainOutcome, isProvenOff } from './drain.ts';
import { DRAIN_TIMEOUT_MS } from './names.ts';
import { cordoned } from './node-marks.ts';
import { drained } from './preserve.ts';
import type { Step } from './preserve.ts';
import type { MachineFacts, NodeFacts } from './snapshot.ts';
import { machineRef, nodeRef, phaseSinceMs } from './subject.ts';
import type { Subject } from './subject.ts';

/** Terminating and without an expiry, in one write. */
export function sendOff(machine: MachineFacts, reason: string, message: string): Extract<Action, { kind: 'machine-status' }> {
  const event: ActionEvent = { type: 'Normal', reason, message };
  const was = { phase: machine.phase, expiryMs: machine.expiryMs };
  return { kind: 'machine-status', target: machineRef(machine), was, to: { phase: 'Terminating', expiryMs: undefined }, event };
}

/** The kubelet still answers: pods can be asked to go. Those of a silent node are freed by its fence, on proof. */
function canDrain(node: NodeFacts): boolean {
  return node.ready === undefined || node.ready === 'True';
}

/** Cordon and drain before the machine goes; undefined: it is done, cannot be done, or took too long. */
function drainFirst(subject: Subject, node: NodeFacts, nowMs: number): Step | undefined {
  const sinceMs = phaseSinceMs(subject);
  if (!canDrain(node) || drainOutcome(node, sinceMs) === 'drained') return undefined;
  if (sinceMs !== undefined && nowMs >= sinceMs + DRAIN_TIMEOUT_MS) return undefined;
  const step = drained(subject, node, nowMs);
  const endMs = sinceMs === undefined ? undefined : sinceMs + DRAIN_TIMEOUT_MS;
  const dueMs = Math.min(step.dueMs ?? Infinity, endMs ?? Infinity);
  return { ...step, actions: [...cordoned(node), ...step.actions], dueMs: dueMs === Infinity ? undefined : dueMs };
}

/** A Failed machine that nobody preserves is drained, then Terminating. */
export function terminateFailed(subject: Subject, machine: MachineFacts, nowMs: number): Step {
  const { node } = subject;
  const first = node === undefined ? undefined : drainFirst(subject, node, nowMs);
  return first ?? { actions: [sendOff(machine, 'FailedMachineTerminated', 'the machine failed and is not preserved')] };
}

/** Terminating: drain, verified power-off by the node's own plan, and only then the Machine goes. */
export function terminate(subject: Subject, machine: MachineFacts, nowMs: number): Step {
  const { node } = subject;
  const remove: Action = { kind: 'delete-machine', target: machineRef(machine) };
  if (node === undefined) return { actions: [{ ...remove, event: { type: 'Normal', reason: 'MachineDeleted', message: 'it has no node' } }] };
  if (isProvenOff(node)) {
    const event: ActionEvent = { type: 'Normal', reason: 'MachineDeleted', message: `node ${node.name} is proven off` };
    return { actions: [{ ...remove, provenOff: nodeRef(node), event }] };
  }
  const first = drainFirst(subject, node, nowMs);
  if (first !== undefined) return first;
  if (node.fence?.requestedByUID === machine.uid) {
    const problem = `node ${node.name} was not proven off, so its machine is not deleted: look at its NodeFence`;
    return { actions: [], problem, isForPeople: true };
  }
  const event: ActionEvent = { type: 'Normal', reason: 'PowerOffRequested', message: `for the end of machine ${machine.name}` };
  return { actions: [{ kind: 'power-off', target: nodeRef(node), requestedBy: machineRef(machine), event }] };
}
