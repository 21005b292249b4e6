import { describeError } from '../errors.ts';
import { mayWriteThere } from '../health.ts';
import { isNeverFenced } from '../preservation.ts';
import { newRequest } from '../request.ts';
import { event, moved, earliest } from '../transition.ts';
import type { Context, Row, Transition } from '../transition.ts';
import { historyOf } from './closing.ts';
import { beginning, begun } from './beginning.ts';
import { waitForChange } from './new.ts';

function isOver({ snapshot }: Context, afterFinalMs: number): boolean {
  return snapshot.nowMs >= (snapshot.since.position ?? snapshot.nowMs) + afterFinalMs;
}

function sameNode({ status, node }: Pick<Context, 'status' | 'node'>): boolean {
  return node !== undefined && node.uid === status.frozen?.nodeUID;
}

/**
 * Its instance was terminated, or it was left off for good, and the Node still stands as that left it: it has not failed again, it waits for whoever takes it
 * away.
 */
function isAsLeft({ status, node }: Pick<Context, 'status' | 'node'>): boolean {
  const isLeft = status.outcome === 'replaced' || status.outcome === 'fenced-off';
  return isLeft && sameNode({ status, node }) && node?.bootID === status.frozen?.bootID;
}

/** Without its record the next controller would take the silent node for one that has failed, and bring it back. */
function isKept({ status, node }: Pick<Context, 'status' | 'node'>): boolean {
  return status.outcome === 'fenced-off' && isAsLeft({ status, node }) && node?.ready !== 'True';
}

/** The node has failed, as far as its conditions say, and nothing speaks against fencing it. */
function failsAgain(context: Context): boolean {
  return context.triggered && !isAsLeft(context) && !isNeverFenced(context.snapshot);
}

export const FINAL_ROWS: readonly Row[] = [
  {
    id: 'final-probation',
    from: 'final',
    when: 'fails again within `probation`',
    does: 'counts as a restart (not where it was left off for good, or its machine is preserved by `now`)',
    to: 'error',
    applies: (context) => failsAgain(context) && sameNode(context) && !isOver(context, context.plan.timing.probationMs),
    act: ({ status, snapshot }) => {
      const next = moved(status, { state: 'error' }, describeError('StepFailed', 'the node failed again within its probation.'));
      delete next.outcome;
      delete next.ending;
      delete next.lastStep;
      // It was over when the node was well again: what has failed now is let go anew, or on a person's word.
      delete next.released;
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
    when: 'fails again later, or a person or a remediation object requests it again',
    does: 'archive to `history`, counters to 0',
    to: 'new',
    applies: (context) => context.node !== undefined && (failsAgain(context) || newRequest(context.fence) !== undefined),
    act: again,
  },
  {
    id: 'final-expired',
    from: 'final',
    when: '`history_ttl` over, and the node is not one that was left off for good',
    does: 'remove finalizer, delete (counters and summary live on in the fence report)',
    to: 'gone',
    applies: (context) => isOver(context, context.plan.timing.historyTtlMs) && !isKept(context),
    act: () => ({ removeFinalizer: true, deleteFence: true }),
  },
  {
    id: 'final-wait',
    from: 'final',
    when: 'otherwise',
    does: 'wait',
    to: 'final',
    applies: () => true,
    act: (context) => {
      const { status, snapshot, plan } = context;
      const expiresAtMs = (snapshot.since.position ?? snapshot.nowMs) + plan.timing.historyTtlMs;
      return { status, requeueAtMs: earliest(waitForChange(context).requeueAtMs, isKept(context) ? undefined : expiresAtMs) };
    },
  },
];

function again({ snapshot, status }: Context): Transition {
  const next = beginning(snapshot, historyOf(status), Math.max(status.incident, snapshot.lastIncident) + 1);
  if (next === undefined) return { status };
  // What it was left with is still ours, and comes back with the node (P8).
  const isLeft = status.outcome === 'fenced-off' || status.outcome === 'replaced';
  if (isLeft && status.restore !== undefined && sameNode({ status, node: snapshot.node })) next.restore = status.restore;
  // On the boot that wrote to revoked storage the node is not healthy, and nothing of it is opened, whichever incident it is by now.
  const { storageRelease } = status;
  if (storageRelease !== undefined && sameNode({ status, node: snapshot.node }) && mayWriteThere(snapshot.node, status)) {
    const { evidence, storages, bootID } = storageRelease;
    next.storageRelease = { at: snapshot.wall, pods: 0, evidence, storages, ...(bootID === undefined ? {} : { bootID }) };
  }
  return { status: next, requeueAtMs: snapshot.nowMs, events: [begun(snapshot, next)] };
}
