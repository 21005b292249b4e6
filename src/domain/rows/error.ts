import { acknowledged, isCutOff } from '../acknowledgement.ts';
import { planToFreeze } from '../asked-plan.ts';
import { voidEvidence } from '../evidence.ts';
import { isAskedFor } from '../health.ts';
import { endsInIsolation } from '../last-step.ts';
import { bounded, LIMITS } from '../node-fence.ts';
import type { Frozen, NodeFenceStatus } from '../node-fence.ts';
import type { Snapshot } from '../snapshot.ts';
import { moved, event, earliest } from '../transition.ts';
import type { Context, Row, Transition } from '../transition.ts';
import { leftOff } from './closing.ts';
import { waitForChange } from './new.ts';
import { isAcknowledged, weigh } from './running.ts';

/** Back-off doubles with each restart and is capped at sixteen times the first one. */
function restartDueMs({ snapshot, status, plan }: Context): number {
  return (snapshot.since.position ?? snapshot.nowMs) + plan.timing.restartBackoffMs * 2 ** Math.min(status.restarts, 4);
}

function usedUp({ status, plan, snapshot }: Context): boolean {
  // Nobody is to fence it by now: a restart would have no step, and forget to say what is off.
  if (status.released?.voidedAt !== undefined || snapshot.plan.trigger === 'never') return true;
  return plan.maxRestarts >= 0 && status.restarts >= plan.maxRestarts;
}

/** Nothing is wrong with the node any more, only what we set could not be undone. */
function recoverable({ healthy, status }: Context): boolean {
  return healthy && status.step === 'recovery';
}

export const ERROR_ROWS: readonly Row[] = [
  {
    id: 'error-healthy',
    from: 'error',
    when: 'healthy, and it was not recovery that failed',
    does: '–',
    to: 'done',
    applies: ({ healthy, status }) => healthy && status.step !== 'recovery',
    act: ({ status, snapshot }) => ({
      status: moved(status, { state: 'done' }, 'The node is healthy: recovery follows.'),
      requeueAtMs: snapshot.nowMs,
    }),
  },
  {
    id: 'error-recovery-back-off',
    from: 'error',
    when: 'healthy, but recovery failed; back-off not over',
    does: 'wait',
    to: 'error',
    applies: (context) => recoverable(context) && restartDueMs(context) > context.snapshot.nowMs,
    act: (context) => ({ status: context.status, requeueAtMs: restartDueMs(context) }),
  },
  {
    id: 'error-recovery-again',
    from: 'error',
    when: 'healthy, but recovery failed; back-off over',
    does: 'restarts + 1; the plan is frozen again, recovery is tried again',
    to: 'done',
    applies: recoverable,
    act: ({ status, snapshot }) => {
      const next = moved(
        { ...status, retries: 0, restarts: status.restarts + 1 },
        { state: 'done', level: 1 },
        'The node is healthy: recovery is tried again.',
      );
      if (status.frozen !== undefined) next.frozen = refrozen(status.frozen, status, snapshot);
      return { status: next, requeueAtMs: snapshot.nowMs };
    },
  },
  {
    id: 'error-acknowledge',
    from: 'error',
    when: 'a person acknowledged that the machine is down, nothing is released yet, or the release was cut off or its proof lost',
    does: 'read every device: none may read on; then the acknowledgement is evidence, once',
    to: 'error',
    applies: isAcknowledged,
    act: weigh,
  },
  {
    id: 'error-acknowledged',
    from: 'error',
    when: 'an acknowledgement has just become evidence',
    does: 'the release follows; nothing is switched',
    to: 'running',
    applies: ({ status, triggered }) => triggered && acknowledged(status) !== undefined && status.journal.at(-1)?.action === 'acknowledge',
    act: ({ status, snapshot }) => {
      const next = moved(
        { ...status, retries: 0 },
        { state: 'running', step: 'power-management' },
        'The acknowledgement is evidence: the workload is released.',
      );
      delete next.outcome;
      // What was let go before stands in the journal: all that is there by now is let go on the word.
      if (isCutOff(status)) delete next.released;
      return { status: next, requeueAtMs: snapshot.nowMs, events: [event('Warning', 'ReleasedOnAcknowledgement', next.message ?? '')] };
    },
  },
  {
    id: 'error-used-up',
    from: 'error',
    when: 'restarts used up, the proof was lost after the release began, or nobody is to fence the node any more (`fence=never`)',
    does: 'stay, alarm, report what is still fenced or off and what an operator must do',
    to: 'error',
    applies: usedUp,
    act: stay,
  },
  {
    id: 'error-back-off',
    from: 'error',
    when: 'restarts < `max_restarts`, back-off not over',
    does: 'wait',
    to: 'error',
    applies: (context) => restartDueMs(context) > context.snapshot.nowMs,
    act: (context) => ({ status: context.status, requeueAtMs: earliest(restartDueMs(context), waitForChange(context).requeueAtMs) }),
  },
  {
    id: 'error-restart',
    from: 'error',
    when: 'restarts < `max_restarts` (-1: without limit), back-off over',
    does: 'restarts + 1; the plan is frozen again, what is isolated is read back',
    to: 'new',
    applies: () => true,
    act: restart,
  },
];

function stay(context: Context): Transition {
  const { status } = context;
  if (status.outcome === 'failed') return { status, requeueAtMs: waitForChange(context).requeueAtMs };
  const released = describeReleased(status);
  const fenced = status.restore?.cordoned === true ? ' The node stays cordoned.' : '';
  const left = leftOff(status);
  const rest = `${left} ${released}${fenced} Check the machine; once it is certainly off, run nodefence ack; ${describeEnd(context)}.`;
  const begin = 'An operator must act: ';
  const why = bounded((status.message ?? '').replace(left, ''), LIMITS.message - begin.length - rest.length);
  const message = begin + why + rest;
  return { status: { ...status, outcome: 'failed', message }, events: [event('Warning', 'FencingGaveUp', message)] };
}

/** A request that stands for as long as it is asked for is not shortcut by Ready. */
function describeEnd({ status }: Context): string {
  const isStanding = isAskedFor(status) && (status.ending === 'off' || endsInIsolation(status));
  if (!isStanding) return 'once it is repaired and Ready, this fence ends by itself';
  return 'this fence ends once what asked for it is withdrawn and the node is repaired and Ready';
}

/** What an earlier restart had let go is no more in `released`: each restart proves everything anew. */
function wasReleasedBefore({ journal, restarts }: NodeFenceStatus): boolean {
  return journal.some(
    ({ action, step, restart, result }) => action === 'release' && step !== 'isolation' && restart < restarts && result === 'succeeded',
  );
}

function describeReleased(status: NodeFenceStatus): string {
  const { released, storageRelease } = status;
  if (released !== undefined)
    return released.pods === 0 && (released.left ?? 0) > 0 ? 'A release of its workload had begun.' : 'Its workload was released before.';
  if (wasReleasedBefore(status) && storageRelease === undefined)
    return 'A release of its workload had begun before the last restart, and nothing was released since.';
  if (storageRelease === undefined || (storageRelease.pods === 0 && (storageRelease.left ?? 0) === 0))
    return 'Nothing was released: its pods and volumes still wait.';
  if (storageRelease.pods === 0) return 'A release of pods whose storage is revoked had begun: keep it closed to this boot.';
  const count = storageRelease.pods === 1 ? '1 pod' : `${storageRelease.pods} pods`;
  return `Released before: only ${count}, whose storage is revoked: keep it closed to this boot. All others still wait.`;
}

/** The plan as it is configured, or asked for, by now. */
function refrozen({ asked: _before, ...rest }: Frozen, status: NodeFenceStatus, snapshot: Snapshot): Frozen {
  return { ...rest, ...planToFreeze(snapshot, isAskedFor(status)) };
}

function restart({ status, snapshot }: Context): Transition {
  const next = moved(
    { ...status, retries: 0, restarts: status.restarts + 1 },
    { state: 'new', step: 'isolation', level: 1 },
    `Restart ${status.restarts + 1}.`,
  );
  next.evidence = voidEvidence(status.evidence, snapshot.wall, 'a restart reads everything again');
  delete next.released;
  delete next.outcome;
  if (status.frozen !== undefined) next.frozen = refrozen(status.frozen, status, snapshot);
  return { status: next, requeueAtMs: snapshot.nowMs, events: [event('Normal', 'FencingRestarted', `Restart ${next.restarts}.`)] };
}
