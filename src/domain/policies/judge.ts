import type { PolicyHold, StormPolicy } from './policy.ts';
import type { StormView } from './view.ts';

/** A policy's hold of one node, and whose it is. */
export interface StormHold extends PolicyHold {
  /** The policy's own name, as configured. */
  policy: string;
  alarmAfterMs?: number;
}

/**
 * Each policy looks at the view once; then, for any node, the holds of all of them, in the order of the policies. A node that the view does not know is held by none.
 * Whoever begins several fences shows each begun one (`holdsSlot`, `starts`) in the view that the next is asked of: max-concurrent and rate count what they see.
 */
export function judgeStorm(policies: readonly StormPolicy[], view: StormView): (node: string) => readonly StormHold[] {
  const deciding = policies.map((policy) => ({ policy, decide: policy.judge(view) }));
  return (name) => {
    const node = view.nodes.get(name);
    if (node === undefined) return [];
    const holds: StormHold[] = [];
    for (const { policy, decide } of deciding) {
      const hold = decide(node);
      if (hold === undefined) continue;
      holds.push({ ...hold, policy: policy.name, ...(policy.alarmAfterMs !== undefined && { alarmAfterMs: policy.alarmAfterMs }) });
    }
    return holds;
  };
}
