import { releasedOnWord } from '../acknowledgement.ts';
import { advance } from '../advance.ts';
import { deletesIn, isDeleted } from '../deletion.ts';
import { describeError } from '../errors.ts';
import { provenOff } from '../evidence.ts';
import { isOnBootThatWasOff } from '../health.ts';
import { staysOff } from '../program.ts';
import { earliest, event } from '../transition.ts';
import type { Context, Row, Transition } from '../transition.ts';
import { withoutReopened } from '../unfence.ts';
import { closed, failed, leftOff } from './closing.ts';
import { aliveThoughOff, waitForChange } from './new.ts';

/** The last power action was an off that the plan never takes back, and the node has not come back on another boot only to fail again. */
function offOnPurpose({ status, plan, node, triggered }: Context): boolean {
  if (triggered && node !== undefined && !isOnBootThatWasOff(node, status)) return false;
  if (releasedOnWord(status) !== undefined) return true;
  // A deletion that did not come about is tried again.
  return !isDeleted(status) && !deletesIn(plan, status.level) && staysOff(plan, status);
}

export const DONE_ROWS: readonly Row[] = [
  {
    id: 'done-ending',
    from: 'done',
    when: 'it was asked to end in off (`spec.ending`), or its Machine or Node is being deleted',
    does: 'nothing is switched on or recovered, what is left off or closed is reported; outcome `fenced-off` when it is proven off, else `replaced` or, where off was asked for, an error',
    to: 'final, or error',
    applies: ({ status }) => status.ending !== undefined,
    act: end,
  },
  {
    id: 'done-healthy',
    from: 'done',
    when: 'healthy',
    does: 'step recovery',
    to: 'final, or error',
    applies: ({ healthy }) => healthy,
    act: recover,
  },
  {
    id: 'done-replaced',
    from: 'done',
    when: 'the fence has deleted the instance, and its Node still stands after `ready_timeout`',
    does: 'outcome `replaced`',
    to: 'final',
    applies: (context) => isDeleted(context.status) && readyDueMs(context) <= context.snapshot.nowMs,
    act: (context) =>
      closed(
        context,
        'replaced',
        `The instance was deleted; its replacement is a new Node. This one is still there: no cloud controller manager took it away; delete it by hand (kubectl delete node).${leftOff(context.status)}`,
      ),
  },
  {
    id: 'done-off',
    from: 'done',
    when: 'the last power action was `off` on purpose, or the workload was released on an acknowledgement; and the node has not failed again on another boot',
    does: 'wait for an operator; no timeout, no loop; the slot is free',
    to: 'done',
    applies: offOnPurpose,
    act: (context) => ({ status: context.status, ...aliveThoughOff(context) }),
  },
  {
    id: 'done-not-ready',
    from: 'done',
    when: 'not healthy after `ready_timeout`',
    does: '–',
    to: 'error',
    applies: (context) => readyDueMs(context) <= context.snapshot.nowMs,
    act: (context) => failed(context, context.status, describeError('NotReady', 'ready_timeout is over.')),
  },
  {
    id: 'done-wait',
    from: 'done',
    when: 'not healthy yet',
    does: 'wait',
    to: 'done',
    applies: () => true,
    act: (context) => ({ status: context.status, requeueAtMs: earliest(waitForChange(context).requeueAtMs, readyDueMs(context)) }),
  },
];

function end(context: Context): Transition {
  const { status, plan } = context;
  const isOff = provenOff(status.evidence, plan) !== undefined;
  const isAsked = status.ending === 'off';
  if (!isOff && isAsked)
    return failed(context, status, describeError('StepFailed', 'it was asked to end in off, and nothing proves that it is off.'));
  const why = isAsked ? 'as it was asked to' : 'for its Machine or Node is being deleted';
  const message = isOff ? `It is proven off and stays off, ${why}.` : 'Its Machine or Node is being deleted: nothing is switched on or recovered.';
  return closed(context, isOff ? 'fenced-off' : 'replaced', `${message}${stays(status)}`);
}

/** What of ours stays as it is, because nobody comes back to it (P8). */
function stays({ restore }: Context['status']): string {
  const edges = (restore?.edges ?? []).map(({ method, device, plug, state }) => `${method} (${`${device} ${plug}`.trim()}) is ${state}`);
  const left = [...edges, ...(restore?.cordoned === true ? ['the Node is cordoned'] : [])];
  return left.length === 0 ? '' : ` LeftOff: ${left.join(', ')}.`;
}

function readyDueMs({ snapshot, plan }: Context): number {
  return (snapshot.since.position ?? snapshot.nowMs) + plan.timing.readyTimeoutMs;
}

function recover(context: Context): Transition {
  const at = context.status.timeline.readyAt ?? context.snapshot.wall;
  const ready: Context = { ...context, status: { ...context.status, timeline: { ...context.status.timeline, readyAt: at } } };
  return advance(ready, 'recovery', {
    finished: (recovered) => {
      const status = withoutReopened(recovered, context);
      const left = hasSeveralSupplies(context) ? leftOff(status) : leftOff(withoutPowerEdges(status));
      const end = closed({ ...ready, status: withoutPowerEdges(status) }, 'recovered', `The node is healthy and recovered.${left}`);
      return left === '' ? end : { ...end, events: [...(end.events ?? []), event('Warning', 'LeftOff', left.trim())] };
    },
    failed: (status, why, error = 'StepFailed') => failed(ready, status, describeError(error, `recovery: ${why}`)),
  });
}

/** Its health does not say that each of them is on. */
function hasSeveralSupplies({ plan }: Context): boolean {
  const plugs = plan.powerManagement.flatMap((level) => level.methods).map((method) => `${method.device} ${method.plug}`);
  return (plan.supplies ?? new Set(plugs).size) > 1;
}

/** A node that is healthy is on, whoever switched it on. */
function withoutPowerEdges(status: Context['status']): Context['status'] {
  const edges = status.restore?.edges?.filter((edge) => edge.state === 'closed') ?? [];
  if (status.restore === undefined) return status;
  const restore = { ...status.restore };
  delete restore.edges;
  if (edges.length > 0) restore.edges = edges;
  const next = { ...status };
  delete next.restore;
  return Object.keys(restore).length === 0 ? next : { ...next, restore };
}
