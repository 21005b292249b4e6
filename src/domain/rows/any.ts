import { isDeleted } from '../deletion.ts';
import { epochOf } from '../epoch.ts';
import { openEntries } from '../journal.ts';
import type { JournalEntry, NodeFenceStatus } from '../node-fence.ts';
import { operationOf } from '../operation-of.ts';
import { EMPTY_PLAN } from '../plan.ts';
import { event } from '../transition.ts';
import type { Context, Row, Transition } from '../transition.ts';
import { closed, leftOff, undo } from './closing.ts';
import { hold } from './new.ts';

/** Rows that stand before those of every state. */
export const ANY_ROWS: readonly Row[] = [
  {
    id: 'newer-leader',
    from: 'any',
    when: 'a newer leader has written the status',
    does: 'nothing, and report it; this leader gives up its Lease, and the next term begins above every epoch on record',
    to: 'same',
    applies: ({ status, snapshot }) => epochOf(status) > snapshot.epoch,
    act: outranked,
  },
  {
    id: 'in-flight',
    from: 'any',
    when: 'a run is under way, also one that this record does not know (any more)',
    does: 'wait for its result',
    to: 'same',
    applies: ({ snapshot }) => snapshot.inFlight.size > 0,
    act: ({ status }) => ({ status }),
  },
  {
    id: 'take-over',
    from: 'any',
    when: 'a run was left open by a crash or another leader',
    does: 'wait until its deadline is over, read the device, record found-done or found-not-done, decide again',
    to: 'same',
    applies: ({ status }) => openEntries(status).length > 0,
    act: takeOver,
  },
  {
    id: 'stopped',
    from: 'any',
    when: 'a stop exists (any state but final; in final too, while a NodeFence is deleted by hand and something is left to undo)',
    does: 'keep the state, condition Stopped; nothing is undone unless asked',
    to: 'same',
    applies: ({ status, snapshot, fence }) =>
      snapshot.stop !== undefined && (fence.deleting ? status.restore !== undefined : status.state !== 'final'),
    act: stopped,
  },
  {
    id: 'observing',
    from: 'any',
    when: '`--mode observe` (any state but new and final)',
    does: 'nothing is changed; the hold says so',
    to: 'same',
    applies: ({ status, snapshot }) =>
      status.state !== 'new' && status.state !== 'final' && snapshot.holds.some((candidate) => candidate.policy === 'observe'),
    act: hold,
  },
  {
    id: 'deleted-by-hand',
    from: 'any',
    when: 'the NodeFence was deleted by hand',
    does: 'stop, undo what is recorded in `restore`, remove the finalizer',
    to: 'gone',
    applies: ({ fence }) => fence.deleting,
    act: undo,
  },
  {
    id: 'node-gone',
    from: 'any',
    when: 'the Node was deleted, or replaced under the same name',
    does: 'no power call any more; close with a message, outcome `node-gone`, or `replaced` where the fence has deleted its instance',
    to: 'final',
    applies: ({ status, node }) => status.state !== 'final' && status.frozen !== undefined && node?.uid !== status.frozen.nodeUID,
    act: (context) =>
      isDeleted(context.status)
        ? closed(context, 'replaced', `The instance was deleted, and its Node is gone.${leftOff(withoutTaint(context.status))}`)
        : closed(
            context,
            'node-gone',
            `The Node is gone or was replaced under the same name: nothing more is switched; check what the machine does.${leftOff(withoutTaint(context.status))}`,
          ),
  },
];

/** Either another one leads, or the Lease that counts the terms was made anew under this one: both end with another term, neither with silence. */
function outranked({ status, snapshot }: Context): Transition {
  const message = `This NodeFence was last written under epoch ${status.epoch}, and this controller leads under ${snapshot.epoch}: it does nothing and gives up its Lease.`;
  return { stepDown: { epoch: epochOf(status), message }, events: [event('Warning', 'NewerLeaderFound', message)] };
}

/** Our taint went with the Node that it stood on; what was switched off or closed did not. */
function withoutTaint(status: NodeFenceStatus): NodeFenceStatus {
  const { taints: _gone, ...restore } = status.restore ?? {};
  return { ...status, restore };
}

function takeOver(context: Context): Transition {
  const { snapshot, status, plan } = context;
  const entry = openEntries(status)[0] as JournalEntry;
  const due = Math.max((snapshot.since.journal ?? snapshot.nowMs) + entry.deadlineMs, snapshot.actsFromMs);
  if (due > snapshot.nowMs) return { status, requeueAtMs: due };
  if (plan === EMPTY_PLAN) return { status };
  return { status, dispatch: { kind: 'recover', entry, operation: operationOf(entry, status) } };
}

function stopped(context: Context): Transition {
  const { status, snapshot } = context;
  const reason = `Stopped by ${snapshot.stop?.by ?? 'an admin'}: ${snapshot.stop?.reason ?? ''}`;
  const left = status.restore?.edges?.length
    ? ` Left off: ${status.restore.edges.map((edge) => `${edge.device} ${edge.plug}`.trim()).join(', ')}.`
    : '';
  const message = reason + left;
  const known = status.hold?.policy === 'stop';
  const hold = { reason: 'stopped', policy: 'stop', message: reason, since: known ? (status.hold?.since ?? snapshot.wall) : snapshot.wall };
  // What a person must do stays in sight; the stop itself stands in `hold`.
  const shown = status.state === 'error' ? status : { ...status, message };
  return { status: { ...shown, hold }, events: known ? [] : [event('Warning', 'FencingStopped', message)] };
}
