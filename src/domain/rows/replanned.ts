import { acknowledged } from '../acknowledgement.ts';
import { askedMethodsOf, planToFreeze } from '../asked-plan.ts';
import { sameContent } from '../canonical.ts';
import { isAskedFor } from '../health.ts';
import { offBegan } from '../journal.ts';
import { event, moved } from '../transition.ts';
import type { Context, Row, Transition } from '../transition.ts';

/** The methods of the request count, unless it goes no further than isolation and the node has failed by itself: then it is fenced as it is configured. */
function servesRequest({ status, failing }: Context): boolean {
  return isAskedFor(status) && !(failing && status.lastStep !== undefined);
}

function isOtherPlan(context: Context): boolean {
  const wanted = servesRequest(context) ? askedMethodsOf(context.fence.spec) : undefined;
  const { asked } = context.status.frozen ?? {};
  return wanted === undefined || asked === undefined ? wanted !== asked : !sameContent(wanted, asked);
}

/** A row of every state, behind those that end a fence. */
export const REPLANNED: Row = {
  id: 'replanned',
  from: 'any',
  when: 'new or running, other methods are asked for than the plan was made of (`spec.methods`), or the node that was to be isolated only fails by itself; no off sent yet',
  does: 'the plan is frozen anew, isolation comes first',
  to: 'new',
  applies: (context) => {
    const { status, triggered } = context;
    const isOpen = (status.state === 'new' || status.state === 'running') && status.released === undefined;
    return isOpen && triggered && !offBegan(status) && acknowledged(status) === undefined && isOtherPlan(context);
  },
  act: replan,
};

function replan(context: Context): Transition {
  const { status, snapshot } = context;
  if (status.frozen === undefined) return { status };
  const { asked: _before, ...rest } = status.frozen;
  const frozen = { ...rest, ...planToFreeze(snapshot, servesRequest(context)) };
  const names = frozen.asked?.methods.join(', ');
  const message = `The plan is frozen anew, ${names === undefined ? 'as it is configured' : `of the methods that are asked for: ${names}`}. Isolation comes first.`;
  const next = moved({ ...status, frozen, retries: 0 }, { state: 'new', step: 'isolation', level: 1 }, message);
  return { status: next, requeueAtMs: snapshot.nowMs, events: [event('Normal', 'PlanFrozenAnew', message)] };
}
