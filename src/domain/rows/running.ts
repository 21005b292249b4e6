import { acknowledged, inadmissible, isCutOff } from '../acknowledgement.ts';
import { acknowledge, advance } from '../advance.ts';
import { isDeleted, waitsToDelete } from '../deletion.ts';
import { describeError } from '../errors.ts';
import { provenOff, validEvidence } from '../evidence.ts';
import { seemsFailed } from '../health.ts';
import { offBegan } from '../journal.ts';
import { isOnlyIsolated } from '../last-step.ts';
import type { JournalEntry, NodeFenceStatus } from '../node-fence.ts';
import { isPlugOf, levelsOf } from '../plan.ts';
import type { Plan } from '../plan.ts';
import { isPreservedOnly } from '../preservation.ts';
import { leftToRelease, mayHaveReleased, staysOff, switchesNothing } from '../program.ts';
import { releasedBefore } from '../released-before.ts';
import { event, moved } from '../transition.ts';
import type { Context, Row, Transition } from '../transition.ts';
import { failed } from './closing.ts';
import { hold, waitForChange } from './new.ts';

/** Our taint or an open release has to be ended before anything else, even on a node that came back. */
function isReleaseValid({ status }: Context): boolean {
  return status.restore?.taints !== undefined;
}

/**
 * A machine that came up on one supply still has the other one to get back (P8), by the on of this very level. What another level has left off is none of its
 * business: a node that is well is neither switched off nor reset for it.
 */
function isAnythingOff({ status, plan }: Context): boolean {
  const methods = levelsOf(plan, 'power-management').find(({ level }) => level === status.level)?.methods ?? [];
  return offBegan(status) && status.restore?.edges?.some((edge) => edge.state === 'off' && isPlugOf(methods, edge)) === true;
}

/** All of it: only our taint is still to be taken back, which no hold keeps (P6). */
function isLetGo(status: NodeFenceStatus): boolean {
  return status.released !== undefined && leftToRelease(status) === 0;
}

/** The level that is reached only waits for a proof, or runs a program: it has nothing to switch on again. Our taint is not on the node. */
function isHeldProof(status: NodeFenceStatus, plan: Plan): boolean {
  return switchesNothing(plan, status.level) && status.restore?.taints === undefined;
}

/** Between the first off and whatever comes next. */
function isHeldOff(context: Context): boolean {
  const { snapshot, status, plan } = context;
  if (!seemsFailed(context) || snapshot.holds.length === 0 || plan.release === 'none' || !offBegan(status) || status.released !== undefined)
    return false;
  // A release that was never sent has let nothing go, and what storage let go is not the rest of it.
  const isReleasing = (entry: JournalEntry): boolean => entry.step === 'power-management' && mayHaveReleased(entry);
  return !status.journal.some((entry) => entry.restart === status.restarts && (entry.action === 'on' || isReleasing(entry)));
}

function heldOffUntilMs({ snapshot, plan }: Context): number {
  return (snapshot.since.waiting ?? snapshot.since.held ?? snapshot.nowMs) + plan.timing.lifeWaitMs;
}

export const RUNNING_ROWS: readonly Row[] = [
  {
    id: 'running-voided',
    from: 'running',
    when: 'evidence was voided after the release began',
    does: 'remove our taint, no automatic on; a critical alarm names the pods',
    to: 'error',
    applies: ({ status }) => status.released?.voidedAt !== undefined,
    act: endVoidedRelease,
  },
  {
    id: 'running-healthy',
    from: 'running',
    when: 'healthy, and nothing is left to undo: no taint, no supply of the present level that was switched off and is not switched on again, once this restart has sent an off',
    does: '–',
    to: 'done',
    applies: (context) => context.healthy && !isReleaseValid(context) && !isAnythingOff(context),
    act: ({ status, snapshot }) => ({
      status: moved(status, { state: 'done' }, 'The node is healthy: recovery follows.'),
      requeueAtMs: snapshot.nowMs,
    }),
  },
  {
    id: 'running-isolated-only',
    from: 'running',
    when: 'the request goes no further than isolation (`spec.lastStep`); the node has not failed by its own conditions, no off sent yet, no acknowledgement',
    does: 'leave it isolated, record the hold `isolation-only` without an alarm, give its slot away and wait: the request is withdrawn or asks for more, or the node fails by itself',
    to: 'running',
    applies: ({ snapshot }) => isOnlyIsolated(snapshot),
    act: (context) => {
      const held = hold(context);
      return held.status === undefined || held.status.slotGivenAway === true ? held : { ...held, status: { ...held.status, slotGivenAway: true } };
    },
  },
  {
    id: 'running-preserved',
    from: 'running',
    when: 'the machine is preserved, or it is not known yet; no other hold, no off sent yet, no acknowledgement to check',
    does: 'leave it isolated, record the hold `preserved` and wait: the machine stays as it is for debugging. Deletion, expiry and a stop end the hold',
    to: 'running',
    applies: (context) => context.triggered && isPreservedOnly(context.snapshot) && !offBegan(context.status) && !isAcknowledged(context),
    act: hold,
  },
  {
    id: 'running-held',
    from: 'running',
    when: 'a hold applies, no off sent yet, an acknowledgement is valid, or the level that is reached switches nothing, and something is left to release',
    does: 'record it, wait',
    to: 'running',
    applies: ({ snapshot, status, triggered, plan }) =>
      triggered &&
      snapshot.holds.length > 0 &&
      !(isPreservedOnly(snapshot) && !offBegan(status)) &&
      (!offBegan(status) || acknowledged(status) !== undefined || isHeldProof(status, plan)) &&
      !isLetGo(status),
    act: hold,
  },
  {
    id: 'running-held-delete',
    from: 'running',
    when: 'a hold applies, the machine is proven off, and the level ends in its deletion, which has not begun, or would be begun again',
    does: 'record it, wait: nothing is released or deleted, the machine stays off',
    to: 'running',
    applies: (context) => context.snapshot.holds.length > 0 && waitsToDelete(context),
    act: hold,
  },
  {
    id: 'running-held-off',
    from: 'running',
    when: 'a hold came after the first off, nothing is released or switched on again, and the hold is younger than `life_wait`',
    does: 'record it, wait: nodes that seem silent only because the watch was interrupted are heard by then',
    to: 'running',
    applies: (context) => isHeldOff(context) && heldOffUntilMs(context) > context.snapshot.nowMs,
    act: (context) => {
      const held = hold(context);
      return { ...held, requeueAtMs: Math.min(held.requeueAtMs ?? Number.POSITIVE_INFINITY, heldOffUntilMs(context)) };
    },
  },
  {
    id: 'running-not-triggered',
    from: 'running',
    when: 'neither healthy nor triggered now, no off sent yet and nothing released',
    does: 'wait',
    to: 'running',
    // Our taint never stays on a node that came back by itself.
    applies: (context) => !context.triggered && !offBegan(context.status) && context.status.released === undefined && !isReleaseValid(context),
    act: waitForChange,
  },
  {
    id: 'running-acknowledge',
    from: 'running',
    when: 'a person acknowledged that the machine is down, nothing is released yet',
    does: 'read every device: none may read on; then the acknowledgement is evidence, once',
    to: 'running',
    applies: isAcknowledged,
    act: weigh,
  },
  {
    id: 'running-delay',
    from: 'running',
    when: '`power_management_delay` not over since isolated, triggered, no off sent yet',
    does: 'wait',
    to: 'running',
    applies: (context) =>
      context.triggered && powerDueMs(context) > context.snapshot.nowMs && !offBegan(context.status) && acknowledged(context.status) === undefined,
    act: (context) => ({ status: context.status, requeueAtMs: powerDueMs(context) }),
  },
  {
    id: 'running-power',
    from: 'running',
    when: '`power_management_delay` over since isolated, not healthy, or an off was sent (a hold that comes after the first off, and stays, stops the release, not the on)',
    does: 'step power-management, with the release inside it',
    to: 'done, or error',
    applies: () => true,
    act: power,
  },
];

/** A word that was refused is not asked about again. */
export function isAcknowledged({ snapshot, status, plan, triggered }: Context): boolean {
  const word = snapshot.acknowledgement;
  const isHeld = snapshot.holds.length > 0 && !isPreservedOnly(snapshot);
  if (word === undefined || !triggered || isHeld) return false;
  if (status.released !== undefined && !isCutOff(status)) return false;
  if (acknowledged(status) !== undefined || inadmissible(plan) !== undefined) return false;
  // Our own proof is better than a word, and leaves the machine to us.
  if (status.state === 'running' && validEvidence(status.evidence, plan) !== undefined) return false;
  return !status.journal.some((entry) => entry.action === 'acknowledge' && entry.plug === word.uid && entry.result === 'refused');
}

export function weigh(context: Context): Transition {
  const word = context.snapshot.acknowledgement;
  return word === undefined ? { status: context.status } : acknowledge(context, word);
}

/** A node that was kept isolated for long is given the time to come back that any other has, counted from its failure. */
function powerDueMs({ snapshot: { since, nowMs }, status, plan }: Context): number {
  const failedMs = status.slotGivenAway === true ? (since.failing ?? 0) : 0;
  return Math.max(since.position ?? nowMs, failedMs) + plan.timing.powerManagementDelayMs;
}

function power(context: Context): Transition {
  return advance(context, 'power-management', {
    finished: (status) => {
      const message = finishedWords(context, status);
      return {
        status: moved(status, { state: 'done' }, message),
        requeueAtMs: context.snapshot.nowMs,
        events: [event('Normal', 'PowerManagementFinished', message)],
      };
    },
    failed: (status, why, error = 'StepFailed') => failed(context, status, describeError(error, `power-management: ${why}`)),
  });
}

/** What has come of power-management, and who is asked for what comes next. */
function finishedWords({ plan }: Context, status: NodeFenceStatus): string {
  const { released, restore, ending, evidence } = status;
  if (acknowledged(status) !== undefined) {
    if (released === undefined) return 'The node came back before its workload was let go on an acknowledgement: nothing is released.';
    const isPartly = leftToRelease(status) > 0;
    return `The workload is ${isPartly ? 'not completely ' : ''}released on an acknowledgement. Nothing is switched any more, the operator has the machine; once it is Ready on a new boot, recovery follows.`;
  }
  if (isDeleted(status)) return 'The instance is deleted: its Node goes with it, and another takes its place.';
  const isOff = restore?.edges?.some((edge) => edge.state === 'off') === true && provenOff(evidence, plan) !== undefined;
  if (ending !== undefined && isOff) return 'The node is off on purpose, and stays off.';
  if (staysOff(plan, status)) return 'The node is off on purpose; a person switches it on.';
  return 'Power-management is finished; waiting for the node to become healthy.';
}

function endVoidedRelease(context: Context): Transition {
  const fail = (status: Context['status']): Transition =>
    failed(
      context,
      status,
      describeError(
        'EvidenceVoided',
        `${status.evidence.findLast((item) => item.voidedAt !== undefined)?.voidedBecause ?? 'a sign of life'}.${releasedBefore(status)}`,
      ),
    );
  if (!isReleaseValid(context)) return fail(context.status);
  return advance(context, 'power-management', { finished: fail, failed: fail });
}
