import { leftAloneBecause, unmanagedBecause } from '../shared/baremetal-host/host.ts';
import { backupChanges, lostEvent } from '../shared/baremetal-host/node-backup.ts';
import type { OffProof } from '../shared/baremetal-host/off-proof.ts';
import { runsHere, withdrawOff } from '../shared/baremetal-host/own-node.ts';
import { holdOff, letOn } from '../shared/baremetal-host/reboot.ts';
import type { ActionEvent } from '../shared/remediation/actions.ts';
import { nodeRef } from '../shared/remediation/node.ts';
import type { NodeFacts } from '../shared/remediation/node.ts';
import type { Step } from './actions.ts';
import { HOLD_VALUE, OUT_OF_SERVICE, POLL_MS, RELEASE, SHORT_POLL_MS } from './names.ts';
import { isOurTaint, isPhaseOver, isTainted, releaseOf, remediationRef } from './situation.ts';
import type { Situation } from './situation.ts';
import { awaitObservation, nextAttempt, note, setFinalizer, setStatus, unlessHeld, untaint, wait } from './steps.ts';

function normal(reason: string, message: string): ActionEvent {
  return { type: 'Normal', reason, message };
}

/** Phase Running: finalizer, power-off, proof, release. */
export function running(situation: Situation): Step {
  const { snapshot, remediation, hasFinalizer, isHeld, power } = situation;
  // That cluster may be on the very machine that is held off.
  if (snapshot.node === 'unknown') return isHeld ? { actions: [setStatus(remediation, { phase: 'Waiting' })], dueInMs: POLL_MS } : awaitObservation();
  if (!hasFinalizer) return { actions: [setFinalizer(remediation, true)], dueInMs: SHORT_POLL_MS };
  if (!isHeld) return powerOff(situation);
  if (power.state === 'off') return release(situation, power.proof);
  return runsHere(snapshot.holds) ? withdraw(situation) : awaitOff(situation);
}

/** Our taint goes first: a tainted node is never started by us (P3). */
function withdraw({ snapshot, host, holdKey }: Situation): Step {
  if (isOurTaint(snapshot)) return { actions: untaint(snapshot), dueInMs: SHORT_POLL_MS };
  return { actions: [withdrawOff(host, holdKey)], dueInMs: POLL_MS };
}

function powerOff(situation: Situation): Step {
  const { snapshot, host, holdKey, remediation } = situation;
  const isOver = isPhaseOver(snapshot, remediation.settings.powerOffTimeoutMs);
  const alone = leftAloneBecause(host);
  if (alone !== undefined) return wait(`BareMetalHost ${host.name} is not switched off: ${alone}`);
  const unmanaged = unmanagedBecause(host);
  const isBlind = host.power?.isOn !== true && !snapshot.canReadBmc;
  const doubt = unmanaged ?? (isBlind ? 'it is not on, and it is unknown since when: it is power-cycled once it is on' : undefined);
  if (doubt !== undefined) {
    const why = `BareMetalHost ${host.name} is not switched off: ${doubt}`;
    return isOver && snapshot.holds.length === 0 ? nextAttempt(situation, why) : wait(why);
  }
  const event = normal('PowerOffRequested', `BareMetalHost ${host.name} is to be switched off`);
  return unlessHeld(snapshot, { actions: [{ ...holdOff(host, holdKey, HOLD_VALUE), event }], dueInMs: POLL_MS });
}

/** An off that can not be proven as it stands is undone, so that the next one can. */
function awaitOff(situation: Situation): Step {
  const { snapshot, host, holdKey, remediation, power } = situation;
  const why = 'why' in power ? power.why : 'it is still on';
  const said = `BareMetalHost ${host.name} is not proven off: ${why}`;
  const alone = leftAloneBecause(host);
  if (alone !== undefined) return wait(said);
  if (!isPhaseOver(snapshot, remediation.settings.powerOffTimeoutMs, host.holdSeenMs)) return wait(power.state === 'on' ? undefined : said);
  const isHopeless = power.state === 'unproven' || power.state === 'contradicted';
  return nextAttempt(situation, said, isHopeless ? [letOn(host, holdKey)] : []);
}

function release(situation: Situation, proof: OffProof): Step {
  const { snapshot, remediation } = situation;
  const { node } = snapshot;
  if (typeof node !== 'object') return { actions: [setStatus(remediation, { phase: 'Waiting' })], dueInMs: POLL_MS };
  if (isHeldTooLong(situation, proof)) return { actions: [setStatus(remediation, { phase: 'Waiting' })], dueInMs: POLL_MS };
  return snapshot.servesOutOfService || isTainted(snapshot) ? outOfService(situation, node, proof) : deletion(situation, node, proof);
}

/** A storm may stand for ever because this very host is off: then it comes back without a release. Only a person's stop keeps it off. */
function isHeldTooLong({ snapshot, remediation }: Situation, proof: OffProof): boolean {
  const { holds } = snapshot;
  const isStorm = holds.length > 0 && !holds.some(({ isStop }) => isStop);
  return isStorm && !isTainted(snapshot) && isPhaseOver(snapshot, remediation.settings.drainTimeoutMs, proof.seenMs);
}

/** Taint, wait until the workload is let go, take the taint back; each with its mark before it, so that a crash forgets nothing. */
function outOfService(situation: Situation, node: NodeFacts, proof: OffProof): Step {
  const { snapshot, remediation } = situation;
  const { drain } = snapshot;
  const mark = releaseOf(remediation);
  const cycle = remediation.retryCount;
  if (mark === 'ended') return { actions: [setStatus(remediation, { phase: 'Waiting' })], dueInMs: POLL_MS };
  if (mark === 'done') {
    const gone = [note(remediation, { [RELEASE]: `${cycle}:ended` })];
    return { actions: isTainted(snapshot) ? untaint(snapshot) : gone, dueInMs: SHORT_POLL_MS };
  }
  if (!isTainted(snapshot)) {
    if (mark === undefined) return unlessHeld(snapshot, { actions: [note(remediation, { [RELEASE]: `${cycle}:taint` })] });
    const event = normal('NodeOutOfService', `node ${node.name} is tainted out of service so that its workload may start elsewhere: ${proof.detail}`);
    return unlessHeld(snapshot, {
      actions: [{ kind: 'taint', target: nodeRef(node), taint: OUT_OF_SERVICE, isPresent: true, proof, event }],
      dueInMs: SHORT_POLL_MS,
    });
  }
  const isOver = drain !== undefined && isPhaseOver(snapshot, remediation.settings.drainTimeoutMs, drain.seenMs);
  const isLetGo = isDrained(drain) && drain?.awaitedPods === 0;
  if (!isLetGo && !isOver) return wait();
  // Somebody else's taint is theirs to take back; ours of an earlier cycle is not.
  if (mark === undefined && !isOurTaint(snapshot)) return { actions: [setStatus(remediation, { phase: 'Waiting' })], dueInMs: POLL_MS };
  return { actions: [note(remediation, { [RELEASE]: `${cycle}:done` })], dueInMs: SHORT_POLL_MS };
}

/** No pod of the node is terminating any more, and no volume is attached; pods that merely run there do not count. */
export function isDrained(drain: { terminatingPods: number; volumeAttachments: number } | undefined): boolean {
  return drain?.terminatingPods === 0 && drain.volumeAttachments === 0;
}

function deletion(situation: Situation, node: NodeFacts, proof: OffProof): Step {
  const { snapshot, remediation } = situation;
  if (node.isDeleting) {
    if (isPhaseOver(snapshot, remediation.settings.drainTimeoutMs)) return { actions: [setStatus(remediation, { phase: 'Waiting' })] };
    return wait(`node ${node.name} is being deleted, and a finalizer keeps it: check metadata.finalizers`);
  }
  const changes = backupChanges(remediation.annotations, node);
  const lost = lostEvent(remediation.annotations);
  const keep = { kind: 'annotate', target: remediationRef(remediation), changes, ...(lost !== undefined && { event: lost }) } as const;
  if (changes.length > 0) return unlessHeld(snapshot, { actions: [keep], dueInMs: SHORT_POLL_MS });
  const event = normal('NodeDeleted', `node ${node.name} is deleted so that its workload may start elsewhere: ${proof.detail}`);
  return unlessHeld(snapshot, { actions: [{ kind: 'delete-node', target: nodeRef(node), proof, event }], dueInMs: POLL_MS });
}
