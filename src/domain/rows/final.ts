import { describeError } from '../errors.ts';
import { newRequest } from '../request.ts';
import { event, moved, earliest } from '../transition.ts';
import type { Context, Row, Transition } from '../transition.ts';
import { historyOf } from './closing.ts';
import { beginning } from './beginning.ts';
import { waitForChange } from './new.ts';

function isOver({ snapshot }: Context, afterFinalMs: number): boolean {
  return snapshot.nowMs >= (snapshot.since.position ?? snapshot.nowMs) + afterFinalMs;
}

function sameNode({ status, node }: Pick<Context, 'status' | 'node'>): boolean {
  return node !== undefined && node.uid === status.frozen?.nodeUID;
}

/** Its instance was terminated, and the Node still stands as that left it: it has not failed again, it waits for the cloud to take it away. */
function isReplaced({ status, node }: Pick<Context, 'status' | 'node'>): boolean {
  return status.outcome === 'replaced' && sameNode({ status, node }) && node?.bootID === status.frozen?.bootID;
}

export const FINAL_ROWS: readonly Row[] = [
  {
    id: 'final-probation',
    from: 'final',
    when: 'fails again within `probation`',
    does: 'counts as a restart',
    to: 'error',
    applies: (context) => context.triggered && !isReplaced(context) && sameNode(context) && !isOver(context, context.plan.timing.probationMs),
    act: ({ status, snapshot }) => {
      const next = moved(status, { state: 'error' }, describeError('StepFailed', 'the node failed again within its probation.'));
      delete next.outcome;
      const timeline = { ...status.timeline };
      delete timeline.finalAt;
      delete timeline.readyAt;
      // Whatever began it was served: from here on it is the node's own failure.
      const trigger = status.trigger === undefined ? {} : { trigger: { ...status.trigger, kind: 'node-condition' as const } };
      return {
        status: { ...next, timeline, ...trigger },
        requeueAtMs: snapshot.nowMs,
        events: [event('Warning', 'FailedInProbation', 'The node failed again within its probation.')],
      };
    },
  },
  {
    id: 'final-again',
    from: 'final',
    when: 'fails again later, or a person or a remediation object asks for it anew',
    does: 'archive to `history`, counters to 0',
    to: 'new',
    applies: (context) => context.node !== undefined && ((context.triggered && !isReplaced(context)) || newRequest(context.fence) !== undefined),
    act: again,
  },
  {
    id: 'final-expired',
    from: 'final',
    when: '`history_ttl` over',
    does: 'remove finalizer, delete (counters and summary live on in the fence report)',
    to: 'gone',
    applies: (context) => isOver(context, context.plan.timing.historyTtlMs),
    act: () => ({ removeFinalizer: true, deleteFence: true }),
  },
  {
    id: 'final-wait',
    from: 'final',
    when: 'otherwise',
    does: 'wait',
    to: 'final',
    applies: () => true,
    act: (context) => ({
      status: context.status,
      requeueAtMs: earliest(
        waitForChange(context).requeueAtMs,
        (context.snapshot.since.position ?? context.snapshot.nowMs) + context.plan.timing.historyTtlMs,
      ),
    }),
  },
];

function again({ snapshot, status }: Context): Transition {
  const next = beginning(snapshot, historyOf(status), Math.max(status.incident, snapshot.lastIncident) + 1);
  if (next === undefined) return { status };
  return { status: next, requeueAtMs: snapshot.nowMs, events: [event('Warning', 'FencingBegan', next.message ?? '')] };
}
