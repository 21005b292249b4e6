import { DETACH_TIMEOUT_MS } from '../shared/attached-volumes.ts';
import type { OffProof } from '../shared/baremetal-host/off-proof.ts';
import { OUT_OF_SERVICE_KEY } from '../shared/baremetal-host/out-of-service.ts';
import { runsHere } from '../shared/baremetal-host/own-node.ts';
import { nodeRef } from '../shared/remediation/node.ts';
import type { NodeFacts } from '../shared/remediation/node.ts';
import type { Action, Step } from './actions.ts';
import { DETACH_POLL_MS, OUT_OF_SERVICE } from './names.ts';
import type { Situation } from './situation.ts';
import type { Snapshot } from './snapshot.ts';

/** Volumes are taken from a Node while it can be seen that it is out of service: from one that is gone the cluster takes them after six minutes alone. */
export function mustDetach({ snapshot, node, power }: Situation): boolean {
  const { volumes } = snapshot;
  if (node === undefined || node.isDeleting || power.state !== 'off' || volumes === undefined || isOverdue(snapshot)) return false;
  return volumes.servesOutOfService || isOutOfService(node);
}

/** Somebody else's taint does the same. */
export function detach({ snapshot }: Situation, node: NodeFacts, proof: OffProof): Step {
  if (isOutOfService(node)) return { phase: 'deleting-node', dueInMs: DETACH_POLL_MS };
  const message = `node ${node.name} is tainted out of service so that ${volumesText(snapshot)} detached before it is deleted: ${proof.detail}`;
  const event = { type: 'Normal', reason: 'NodeOutOfService', message } as const;
  const action: Action = { kind: 'taint', target: nodeRef(node), taint: OUT_OF_SERVICE, isPresent: true, proof, event };
  return { phase: 'deleting-node', actions: [action], dueInMs: DETACH_POLL_MS };
}

/** What is told of a Node that is deleted with its volumes. */
export function stillAttached(snapshot: Snapshot): string | undefined {
  if (snapshot.volumes === undefined) return undefined;
  const waited = isOverdue(snapshot) ? `, after a wait of ${DETACH_TIMEOUT_MS / 1000} s` : '';
  const them = snapshot.volumes.attached === 1 ? 'it' : 'them';
  return `${volumesText(snapshot)} still attached${waited}: the cluster may take six minutes to detach ${them}`;
}

/** Our taint is on the Node of a release that is off: no pod could run there any more. `undefined`: there is none, or it is to stay. */
export function takeBack(node: NodeFacts | undefined, situation: Situation | undefined): Step | undefined {
  if (node === undefined || !isOurs(node) || (situation !== undefined && isReleasing(situation))) return undefined;
  const message = `node ${node.name} is no longer tainted out of service: it is not deleted`;
  const event = { type: 'Normal', reason: 'OutOfServiceEnded', message } as const;
  const action: Action = { kind: 'taint', target: nodeRef(node), taint: OUT_OF_SERVICE, isPresent: false, event };
  return { phase: 'waiting', actions: [action], dueInMs: DETACH_POLL_MS };
}

export function isOurs({ taints }: Pick<NodeFacts, 'taints'>): boolean {
  return taints.some(({ key, value }) => key === OUT_OF_SERVICE.key && value === OUT_OF_SERVICE.value);
}

export function isOutOfService({ taints }: Pick<NodeFacts, 'taints'>): boolean {
  return taints.some(({ key }) => key === OUT_OF_SERVICE_KEY);
}

/** Where nobody can say for the moment whether the host is off, what rests on the proof stands: only an on, a doubt, or a leader that runs on it voids it. */
function isReleasing({ isAsked, isHeld, isMarked, gaveUp, machine, power, snapshot }: Situation): boolean {
  const stands = power.state === 'off' || (power.state === 'unknown' && !runsHere(snapshot.holds));
  return isAsked && isHeld && !isMarked && gaveUp === undefined && !machine.isDeleting && stands;
}

function isOverdue({ monotonicMs, volumes }: Snapshot): boolean {
  return volumes?.waitedSinceMs !== undefined && monotonicMs - volumes.waitedSinceMs >= DETACH_TIMEOUT_MS;
}

function volumesText({ volumes }: Snapshot): string {
  const count = volumes?.attached ?? 0;
  return count === 1 ? '1 volume of it is' : `${count} volumes of it are`;
}
