import { NOBODY } from './policy.ts';
import type { PolicyHold, StormPolicy } from './policy.ts';
import { askedFor } from './remedied.ts';
import type { StormView } from './view.ts';

/** A policy's hold of one node, and whose it is. */
export interface StormHold extends PolicyHold {
  /** The policy's own name, as configured. */
  policy: string;
  alarmAfterMs?: number;
}

/** `isAsked`: somebody asks for the node without a NodeFence. */
export type StormHoldsOf = (node: string, isAsked?: boolean) => readonly StormHold[];

const NO_HOLDS: readonly StormHold[] = [];

/**
 * Each policy looks at the view once; then, for any node, the holds of all of them, in the order of the policies. A node that the view does not know is held by none.
 * Whoever begins several fences shows each begun one (`holdsSlot`, `starts`) in the view that the next is asked of: max-concurrent and rate count what they see.
 */
export function judgeStorm(policies: readonly StormPolicy[], view: StormView): StormHoldsOf {
  const deciding = policies
    .map((policy) => ({ decide: policy.judge(view), told: telling(policy) }))
    // Most hold nobody most of the time, and thousands of nodes may ask.
    .filter(({ decide }) => decide !== NOBODY);
  return (name, isAsked = false) => {
    const known = view.nodes.get(name);
    if (known === undefined) return NO_HOLDS;
    const node = isAsked ? askedFor(known) : known;
    let holds: StormHold[] | undefined;
    for (const { decide, told } of deciding) {
      const hold = decide(node);
      if (hold !== undefined) (holds ??= []).push(told(hold));
    }
    return holds ?? NO_HOLDS;
  };
}

/** Whose a hold is. A policy that holds many for one reason holds them by one object. */
function telling({ name, alarmAfterMs }: StormPolicy): (hold: PolicyHold) => StormHold {
  let last: { hold: PolicyHold; told: StormHold } | undefined;
  return (hold) => {
    if (last?.hold !== hold) last = { hold, told: { ...hold, policy: name, ...(alarmAfterMs !== undefined && { alarmAfterMs }) } };
    return last.told;
  };
}
