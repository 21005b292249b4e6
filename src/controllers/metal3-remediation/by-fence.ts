import { offTimeTooShort } from '../../domain/off-time.ts';
import type { FenceFacts } from '../shared/claims/fence-facts.ts';
import { besidesPreservation } from '../shared/remediation/actions.ts';
import type { ActionEvent, ObjectRef } from '../shared/remediation/actions.ts';
import type { Action, Decision, Step } from './actions.ts';
import { beginning, NO_OWNER } from './decide.ts';
import { POLL_MS, SHORT_POLL_MS } from './names.ts';
import { hasFinalizer, isPhaseOver, remediationRef } from './situation.ts';
import type { Snapshot } from './snapshot.ts';
import { nextAttempt, setFinalizer, setStatus, unlessHeld, wait } from './steps.ts';
import { finished, isFoundWell, isOverdue } from './waiting.ts';

export type FenceAction =
  /** Takes the Node in the name of `target`, as shared/claims does. */
  | { kind: 'request-fence'; target: ObjectRef; event: ActionEvent }
  /** Gives it back: the fence controller takes back what it did before it lets go. */
  | { kind: 'withdraw-fence'; target: ObjectRef; event?: ActionEvent };

export interface FenceDecision extends Omit<Decision, 'actions'> {
  actions: readonly (Action | FenceAction)[];
}

/** `seenMs`: since when this process sees it. */
export type SeenFence = FenceFacts & { seenMs: number };

interface FenceStep extends Omit<Step, 'actions'> {
  actions?: readonly (Action | FenceAction)[];
}

/** Outcomes after which the machine is as it should be. */
const WELL: ReadonlySet<string> = new Set(['recovered', 'untouched', 'replaced']);

/**
 * A remediation whose BareMetalHost nobody serves: in place of hold and host a NodeFence in its name, so that our own agents switch the machine. `fence`: that of
 * its Node, whosever it is. The fence is the lock too.
 */
export function decideByFence(snapshot: Snapshot, fence: SeenFence | undefined): FenceDecision {
  const { remediation, nowMs } = snapshot;
  const { actions = [], problem, dueInMs } = stepOf(snapshot, fence);
  const told = [...remediation.problems, ...(problem === undefined ? [] : [problem])];
  return {
    actions,
    problems: told.map((each) => `Metal3Remediation ${remediation.namespace}/${remediation.name}: ${each}`),
    holdsNode: false,
    ...(dueInMs !== undefined && { nextDueMs: nowMs + dueInMs }),
  };
}

function stepOf(snapshot: Snapshot, fence: SeenFence | undefined): FenceStep {
  const { remediation, machine } = snapshot;
  const own = fence?.requestedByUID === remediation.uid ? fence : undefined;
  if (remediation.isPaused || (machine !== 'gone' && machine.isPaused)) return { problem: 'it is paused' };
  if (!remediation.hasOwner && !remediation.isDeleting) return { problem: NO_OWNER };
  if (machine === 'gone' || remediation.isDeleting) return ended(snapshot, own);
  if (remediation.settings.type !== 'Reboot') return {};
  switch (remediation.phase) {
    case '':
      return beginning(snapshot, machine);
    case 'Running':
      return running(snapshot, fence, own);
    case 'Waiting':
      return waiting(snapshot, own);
    default:
      return own === undefined || own.isFinal || own.isDeleting ? {} : { actions: [withdraw(snapshot)], dueInMs: POLL_MS };
  }
}

/** Nobody wants it any more: what the fence did is taken back by it, and only then is the remediation let go. */
function ended(snapshot: Snapshot, own: FenceFacts | undefined): FenceStep {
  const { remediation } = snapshot;
  if (own?.isDeleting === true) return wait(`NodeFence ${own.name} takes back what it did`);
  if (own !== undefined && !own.isFinal) return { actions: [withdraw(snapshot)], dueInMs: POLL_MS };
  return hasFinalizer(remediation) ? { actions: [setFinalizer(remediation, false)] } : {};
}

function running(snapshot: Snapshot, fence: SeenFence | undefined, own: SeenFence | undefined): FenceStep {
  const { remediation, node } = snapshot;
  if (!hasFinalizer(remediation)) return { actions: [setFinalizer(remediation, true)], dueInMs: SHORT_POLL_MS };
  if (own?.isDeleting === false) return underWay(snapshot, own);
  if (fence !== undefined && (fence.isDeleting || !fence.isFinal)) return wait(`its node is left alone: ${fence.owner}`);
  if (typeof node !== 'object') {
    const why = 'no operator serves its BareMetalHost, and it has no Node that nodefence could fence';
    return isPhaseOver(snapshot, remediation.settings.powerOffTimeoutMs) ? again(snapshot, own, why) : wait(why);
  }
  const event: ActionEvent = {
    type: 'Normal',
    reason: 'FenceRequested',
    message: `node ${node.name} is to be fenced: no operator serves its BareMetalHost`,
  };
  const held = unlessHeld({ ...snapshot, holds: besidesPreservation(snapshot.holds) }, {});
  if (held.problem !== undefined) return held;
  return { actions: [{ kind: 'request-fence', target: remediationRef(remediation), event }], dueInMs: POLL_MS };
}

/** Until it is proven off. */
function underWay(snapshot: Snapshot, own: SeenFence): FenceStep {
  const { remediation } = snapshot;
  if (own.isOff || (own.isFinal && isWell(own))) return { actions: [setStatus(remediation, { phase: 'Waiting' })], dueInMs: POLL_MS };
  const failure = failureOf(own);
  if (failure !== undefined) return again(snapshot, own, failure);
  if (own.heldBecause !== undefined) return wait(`NodeFence ${own.name} waits: ${own.heldBecause}`);
  const { powerOffTimeoutMs } = remediation.settings;
  const tooShort = own.delays === undefined ? undefined : offTimeTooShort(powerOffTimeoutMs, own.delays);
  if (!isPhaseOver(snapshot, powerOffTimeoutMs, own.seenMs)) return wait(tooShort);
  const why = `NodeFence ${own.name} has not proven its node off in time`;
  return again(snapshot, own, tooShort === undefined ? why : `${why}: ${tooShort}`);
}

/** Until the fence has brought the node back. */
function waiting(snapshot: Snapshot, own: FenceFacts | undefined): FenceStep {
  const { remediation, machine, node } = snapshot;
  const isBack = typeof node === 'object' && node.isReady && (own === undefined || (own.isFinal && isWell(own)));
  if (isBack && hasFinalizer(remediation) && machine !== 'gone') return finished(remediation, machine, node);
  const failure = own === undefined ? undefined : failureOf(own);
  if (failure !== undefined) return again(snapshot, own, failure);
  if (own?.heldBecause !== undefined) return wait(`NodeFence ${own.name} waits: ${own.heldBecause}`);
  return isOverdue(snapshot) && !isFoundWell(snapshot) ? again(snapshot, own, 'the node is not healthy') : wait();
}

function isWell({ outcome }: FenceFacts): boolean {
  return outcome !== undefined && WELL.has(outcome);
}

function failureOf(own: FenceFacts): string | undefined {
  if (own.isFinal && !isWell(own)) return `NodeFence ${own.name} ended: ${own.outcome ?? 'for an unknown reason'}`;
  return own.isStuck ? `NodeFence ${own.name} has failed, and does not try again by itself` : undefined;
}

/** Its fence is withdrawn first, so that the next one is another. */
function again(snapshot: Snapshot, own: FenceFacts | undefined, why: string): FenceStep {
  const { remediation, machine, host } = snapshot;
  if (machine === 'gone') return wait();
  const { actions = [], ...step } = nextAttempt({ snapshot, remediation, machine, host }, why);
  if (actions.length === 0) return step;
  return { ...step, actions: own === undefined || own.isDeleting ? actions : [withdraw(snapshot), ...actions] };
}

function withdraw({ remediation }: Snapshot): FenceAction {
  return { kind: 'withdraw-fence', target: remediationRef(remediation) };
}
