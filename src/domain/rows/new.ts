import { advance } from '../advance.ts';
import { describeError } from '../errors.ts';
import { isOnBootThatWasOff, triggerDueMs } from '../health.ts';
import { earliestAfter, event, moved } from '../transition.ts';
import type { Context, Row, Transition } from '../transition.ts';
import { closed, failed } from './closing.ts';

/** Something was done in this fence that has to be looked after. */
function touched({ status }: Context): boolean {
  return status.journal.length > 0 || status.restore !== undefined;
}

export const NEW_ROWS: readonly Row[] = [
  {
    id: 'new-untouched',
    from: 'new',
    when: 'healthy, nothing in journal or restore',
    does: 'outcome `untouched`',
    to: 'final',
    applies: (context) => context.healthy && !touched(context),
    act: (context) => closed(context, 'untouched', 'The node became healthy before anything was done.'),
  },
  {
    id: 'new-healthy',
    from: 'new',
    when: 'healthy, something done before (after a restart)',
    does: '–',
    to: 'done',
    applies: (context) => context.healthy,
    act: (context) => ({
      status: moved(context.status, { state: 'done' }, 'The node is healthy: recovery follows.'),
      requeueAtMs: context.snapshot.nowMs,
    }),
  },
  {
    id: 'new-not-triggered',
    from: 'new',
    when: 'neither healthy nor triggered now',
    does: 'wait',
    to: 'new',
    applies: (context) => !context.triggered,
    act: (context) => ({ ...waitForChange(context), ...aliveThoughOff(context) }),
  },
  {
    id: 'new-held',
    from: 'new',
    when: 'a hold applies',
    does: 'record it, wait (alarm after `alarm_after`)',
    to: 'new',
    applies: (context) => context.snapshot.holds.length > 0,
    act: hold,
  },
  {
    id: 'new-delay',
    from: 'new',
    when: '`isolation_delay` not over since our first observation',
    does: 'wait',
    to: 'new',
    applies: (context) => isolationDueMs(context) > context.snapshot.nowMs,
    act: (context) => ({ status: context.status, requeueAtMs: isolationDueMs(context) }),
  },
  {
    id: 'new-isolate',
    from: 'new',
    when: '`isolation_delay` over',
    does: 'step isolation',
    to: 'running, or error after `step_retries`',
    applies: () => true,
    act: isolate,
  },
];

const ALIVE_THOUGH_OFF = describeError(
  'EvidenceVoided',
  'The node is Ready on the very boot on which its device read off, or which a person declared down; it stays as it is until it boots anew.',
);

/** Neither failed nor healthy, and no time will change that: a person must hear of it, once. */
export function aliveThoughOff({ node, status, snapshot }: Context): Pick<Transition, 'status' | 'events'> {
  // Until it has said something since, its Ready is only what the API has not yet noticed.
  if (
    node?.ready !== 'True' ||
    node.lifeAtMs <= (snapshot.since.action ?? Number.NEGATIVE_INFINITY) ||
    !isOnBootThatWasOff(node, status) ||
    status.message === ALIVE_THOUGH_OFF
  )
    return {};
  return { status: { ...status, message: ALIVE_THOUGH_OFF }, events: [event('Warning', 'AliveThoughOff', ALIVE_THOUGH_OFF)] };
}

function isolationDueMs({ snapshot, plan }: Context): number {
  return (snapshot.since.triggered ?? snapshot.nowMs) + plan.timing.isolationDelayMs;
}

function isolate(context: Context): Transition {
  return advance(context, 'isolation', {
    finished: (status) => {
      const next = moved(status, { state: 'running', step: 'power-management' }, 'The node is isolated; power-management follows after its delay.');
      next.timeline = { ...status.timeline, isolatedAt: status.timeline.isolatedAt ?? context.snapshot.wall };
      return { status: next, requeueAtMs: context.snapshot.nowMs, events: [event('Normal', 'NodeIsolated', 'Isolation is complete.')] };
    },
    failed: (status, why, error = 'StepFailed') => failed(context, status, describeError(error, `isolation: ${why}`)),
  });
}

/** Looks again when the trigger or the health delay may have changed by time alone. */
export function waitForChange({ snapshot, status, plan, node }: Context): Transition {
  const healthDue = snapshot.since.healthy === undefined ? undefined : snapshot.since.healthy + plan.timing.healthyDelayMs;
  const triggerDue = node === undefined ? undefined : triggerDueMs(node, plan, snapshot.since);
  return { status, requeueAtMs: earliestAfter(snapshot.nowMs, healthDue, triggerDue) };
}

/** The first hold is recorded; one event at its begin, one alarm after `alarm_after`. */
export function hold({ snapshot, status, plan }: Context): Transition {
  const first = snapshot.holds[0];
  if (first === undefined) return { status };
  const same = status.hold?.reason === first.reason && status.hold.policy === first.policy;
  const since = same ? (status.hold?.since ?? snapshot.wall) : snapshot.wall;
  const next = { ...status, hold: { ...first, since }, ...(status.state === 'error' ? {} : { message: first.message }) };
  const events = same ? [] : [event('Normal', 'FencingHeld', `Held by ${first.policy}: ${first.message}`)];
  const alarmDue = snapshot.since.held === undefined ? undefined : snapshot.since.held + plan.timing.alarmAfterMs;
  return { status: next, events, requeueAtMs: alarmDue !== undefined && alarmDue > snapshot.nowMs ? alarmDue : undefined };
}
