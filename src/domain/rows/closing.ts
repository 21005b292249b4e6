import { intentDeadlineMs, lateEffectMs } from '../advance.ts';
import { appended } from '../journal.ts';
import { bounded, LIMITS } from '../node-fence.ts';
import type { HistoryEntry, JournalEntry, NodeFenceStatus, Outcome, Restore } from '../node-fence.ts';
import { operationOf } from '../operation-of.ts';
import { standingTaints } from '../own-taints.ts';
import { isFailure, mayHaveReleased } from '../program.ts';
import { mayOpenStorage } from '../storage-opening.ts';
import { event, moved } from '../transition.ts';
import type { Context, Transition } from '../transition.ts';

/** A device's long answer never pushes these words out of a message. */
const LEFT_OFF_MAX = 180;

/** The fence ends in final with this outcome. */
export function closed(context: Context, outcome: Outcome, message: string): Transition {
  const { status, snapshot } = context;
  const next = moved(status, { state: 'final' }, bounded(message));
  next.outcome = outcome;
  next.timeline = { ...status.timeline, finalAt: snapshot.wall };
  const happy = outcome === 'recovered' || outcome === 'untouched' || outcome === 'replaced' || outcome === 'fenced-off';
  return { status: next, events: [event(happy ? 'Normal' : 'Warning', 'FencingFinished', `Outcome ${outcome}: ${message}`)] };
}

/** The fence goes to error; what to do stands in the message. */
export function failed(context: Context, status: NodeFenceStatus, message: string): Transition {
  const left = leftOff(status);
  const words = bounded(message, LIMITS.message - left.length) + left;
  const next = moved(status, { state: 'error' }, words);
  return { status: next, requeueAtMs: context.snapshot.nowMs, events: [event('Warning', 'FencingFailed', words)] };
}

/** What of ours is still off or closed, or keeps the workload away, in words; empty when nothing is (P8). */
export function leftOff({ restore }: NodeFenceStatus): string {
  const edges = restore?.edges ?? [];
  const parts = (['off', 'closed'] as const).flatMap((wanted) => {
    const names = edges.filter(({ state }) => state === wanted).map((edge) => `${edge.method} (${edge.agent} ${edge.device} ${edge.plug})`.trim());
    return names.length === 0 ? [] : [`${names.join(', ')} is still ${wanted}`];
  });
  const off = parts.length === 0 ? '' : ` LeftOff: ${parts.join(', ')}; check the machine, then switch it on there.`;
  const taint = restore?.taints?.[0]?.key;
  const message = taint === undefined ? off : ` Our taint ${taint} is still on the node.${off}`;
  return bounded(message, LEFT_OFF_MAX);
}

/**
 * Takes back, one by one, what stands in `restore`, then lets a NodeFence that was deleted by hand go. What cannot be taken back is said, and keeps
 * nothing else.
 */
export function undo(context: Context): Transition {
  const { status, node, fence, plan } = context;
  const gone = node === undefined || (status.frozen !== undefined && node.uid !== status.frozen.nodeUID);
  const untouchable = gone || context.snapshot.holds.some((hold) => hold.policy === 'observe');
  const open = untouchable ? [] : undoable(context);
  const facts = open.find(({ operation }) => failuresOf(status, operation) <= plan.stepRetries);
  // A late off must not hit what we switch on: the machine is not let go before that (P5, P8).
  if (facts === undefined && !untouchable && isToWait(context, open)) return waitToUndo(context);
  if (open.length === 0) return fence.finalized ? letGo(context, gone) : keptByAnother(status);
  if (facts === undefined) {
    const left = open.map(({ operation }) => operation).join(', ');
    return {
      removeFinalizer: true,
      events: [event('Warning', 'LeftOff', bounded(`Deleted by hand; ${left} could not be undone.${leftOff(status)}${leftCordoned(status)}`))],
    };
  }
  const due = wasTried(status, facts.operation) ? (context.snapshot.since.journal ?? 0) + plan.timing.settleMs : 0;
  if (due > context.snapshot.nowMs) return { status, requeueAtMs: due };
  const next = undoEntry(context, facts);
  return { status: { ...status, journal: appended(status, next) }, dispatch: { kind: 'run', entry: next, operation: operationOf(next, status) } };
}

/** What is not ours to take back any more, or not to be touched, is told all the same. */
function letGo({ status }: Context, isGone: boolean): Transition {
  const { taints: _taints, cordoned: _cordoned, ...rest } = status.restore ?? {};
  // Taint and cordon go with the Node that they stand on.
  const left = isGone ? leftOff({ ...status, restore: rest }) : leftOff(status) + leftCordoned(status);
  if (left === '') return { removeFinalizer: true };
  return { removeFinalizer: true, events: [event('Warning', 'LeftOff', `The NodeFence was deleted by hand.${left}`)] };
}

function leftCordoned({ restore }: NodeFenceStatus): string {
  return restore?.cordoned === true ? ' The node stays cordoned.' : '';
}

export const KEPT_BY_ANOTHER =
  'This NodeFence is being deleted, and a finalizer that nodefence did not set keeps it: the node is not fenced before it is gone. Remove that entry of metadata.finalizers.';

function keptByAnother(status: NodeFenceStatus): Transition {
  if (status.message === KEPT_BY_ANOTHER) return {};
  return { status: { ...status, message: KEPT_BY_ANOTHER }, events: [event('Warning', 'DeletionBlocked', KEPT_BY_ANOTHER)] };
}

/** Of what was switched off or closed, nothing may be taken back yet. */
function isToWait(context: Context, open: readonly UndoFacts[]): boolean {
  const { taints } = context.status.restore ?? {};
  const edges = edgesToUndo(context.status);
  return edges.length > 0 && taints === undefined && (open.length === 0 || undoneAtMs(context) > context.snapshot.nowMs);
}

/** Of its undo: that its level could not switch it on before somebody mended it says nothing of whether it can be taken back now. */
function failuresOf({ journal }: NodeFenceStatus, operation: string): number {
  return journal.filter((entry) => entry.step === UNDO_STEP && entry.operation === operation && isFailure(entry)).length;
}

/** Also by a run that says nothing of the device: an API server that sends everybody away is asked again, after a pause, not given up. */
function wasTried({ journal }: NodeFenceStatus, operation: string): boolean {
  return journal.some((entry) => entry.operation === operation && entry.result !== undefined && entry.result !== 'succeeded');
}

/**
 * What may be taken back now, in this order; nothing is switched on while our taint stands. The last off first: every earlier one was read back, and this
 * one is before its own on, so that no on goes before an off that nobody has seen (P3).
 */
function undoable(context: Context): UndoFacts[] {
  const { taints, cordoned } = context.status.restore ?? {};
  const edges = edgesToUndo(context.status);
  const open: UndoFacts[] = [];
  if (taints !== undefined)
    open.push({ operation: 'release-end', method: 'release-end', agent: 'kubernetes', device: '', plug: '', action: 'release-end' });
  else if (undoneAtMs(context) <= context.snapshot.nowMs)
    open.push(
      ...edges
        .toReversed()
        .filter((edge) => mayUndo(context, edge))
        .map(asOn),
    );
  if (edges.some(({ state }) => state === 'closed')) return open;
  for (const { name, agent } of standingTaints(context.plan, context.status.journal))
    open.push({ operation: `run:${name}`, method: name, agent, device: '', plug: '', action: 'run' });
  if (cordoned === true) open.push({ operation: 'run:undo-cordon', method: 'undo-cordon', agent: 'uncordon', device: '', plug: '', action: 'run' });
  return open;
}

/** A machine that was to end in off, or is being deleted, is not switched on by a hand that deletes its fence. */
function edgesToUndo({ restore, ending }: NodeFenceStatus): readonly Edge[] {
  return (restore?.edges ?? []).filter(({ state }) => ending === undefined || state === 'closed');
}

function mayUndo(context: Context, { state }: Edge): boolean {
  return state === 'off' || mayOpenStorage(context, context.status);
}

function asOn({ method, agent, device, plug }: Edge): UndoFacts {
  return { operation: `on:${method}`, method, agent, device, plug, action: 'on' };
}

const STAYS_CLOSED =
  'Deleted by hand, but pods were released because storage was revoked, and this node still runs the boot that wrote to it: the storage stays closed until the node boots again.';

const WAITS_TO_UNDO =
  'Deleted by hand: what is off or closed is switched on or opened once no late off can hit it and what was released is gone, or release_timeout is over.';

function waitToUndo(context: Context): Transition {
  const { status } = context;
  const due = undoneAtMs(context);
  if (due > context.snapshot.nowMs) return { status: { ...status, message: WAITS_TO_UNDO }, requeueAtMs: due };
  if (status.message === STAYS_CLOSED) return { status };
  return { status: { ...status, message: STAYS_CLOSED }, events: [event('Warning', 'LeftOff', STAYS_CLOSED)] };
}

/** When the machine may be switched on: nothing late can hit it, and what a release has let go is gone from it, or `release_timeout` is over (P3, P5). */
function undoneAtMs(context: Context): number {
  const { status, snapshot, plan } = context;
  const isReleased = status.journal.some((entry) => entry.restart === status.restarts && mayHaveReleased(entry));
  const isGone = snapshot.workload.isUnsure !== true && snapshot.workload.pods === 0 && snapshot.workload.volumeAttachments === 0;
  if (!isReleased || isGone) return settledAtMs(context);
  return Math.max(settledAtMs(context), (snapshot.since.action ?? snapshot.nowMs) + plan.timing.releaseTimeoutMs);
}

function settledAtMs(context: Context): number {
  const { snapshot, status } = context;
  return (snapshot.since.set ?? snapshot.since.journal ?? snapshot.nowMs) + lateEffectMs(context, status);
}

type Edge = NonNullable<Restore['edges']>[number];
/** What is taken back belongs to no level of power-management. */
const UNDO_STEP = 'recovery';
type UndoFacts = Pick<JournalEntry, 'operation' | 'method' | 'agent' | 'device' | 'plug' | 'action'>;

function undoEntry(context: Context, facts: UndoFacts): JournalEntry {
  const { status, snapshot, plan } = context;
  return {
    id: `${facts.method}-${snapshot.uuid}`,
    step: UNDO_STEP,
    level: 1,
    ...facts,
    attempt: 1 + status.journal.filter((entry) => entry.operation === facts.operation).length,
    restart: status.restarts,
    runner: 'in-process',
    epoch: snapshot.epoch,
    startedAt: snapshot.wall,
    deadlineMs: intentDeadlineMs(plan),
  };
}

/** One line that outlives the incident. */
export function historyOf(status: NodeFenceStatus): HistoryEntry[] {
  const entry: HistoryEntry = {
    incident: status.incident,
    outcome: status.outcome ?? 'failed',
    from: status.timeline.noticedAt ?? status.timeline.failedAt ?? '',
    to: status.timeline.finalAt ?? '',
    summary: bounded(status.message ?? ''),
  };
  return [...status.history, entry].slice(-LIMITS.history);
}
