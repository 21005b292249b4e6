import { DEFAULT_ISOLATION } from '../controller-isolated.ts';
import type { PolicyHold, StormPolicy } from '../policy.ts';
import type { StormFence, StormNode, StormView } from '../view.ts';

export const NOW_MS = 10_000_000;
/** Saturday, 21 November 2026, 12:00 UTC. */
export const SATURDAY_NOON_MS = Date.UTC(2026, 10, 21, 12);
export const ISOLATION = DEFAULT_ISOLATION;

export function fence(members: Partial<StormFence> = {}): StormFence {
  return { holdsSlot: false, isRequested: false, state: 'new', ...members };
}

/** A fence that is under way. */
export const SLOT = fence({ holdsSlot: true, state: 'running' });

export function node(name: string, members: Partial<StormNode> = {}): StormNode {
  return {
    name,
    labels: {},
    isControlPlane: false,
    health: 'healthy',
    healthSinceMs: 0,
    fence: undefined,
    marks: [],
    storage: undefined,
    ...members,
  };
}

/** `n0`, `n1`, ...: the first `failed` have failed, the next `silent` are silent. */
export function nodes(total: number, failed = 0, silent = 0): StormNode[] {
  return Array.from({ length: total }, (_, index) => {
    const health = index < failed ? 'failed' : index < failed + silent ? 'silent' : 'healthy';
    return node(`n${index}`, { health });
  });
}

/** A view of a controller that has been listening for long. */
export function view(all: readonly StormNode[], members: Partial<StormView> = {}): StormView {
  return {
    nowMs: NOW_MS,
    wallMs: SATURDAY_NOON_MS,
    nodes: new Map(all.map((one) => [one.name, one])),
    controller: { ownNode: undefined, startedAtMs: 0, tookOver: false, freshAtMs: NOW_MS, freshSinceMs: 0, targets: new Map() },
    controlPlane: { members: undefined },
    starts: [],
    stormEndedAtMs: undefined,
    alerts: new Map(),
    ...members,
  };
}

/** Names of the nodes that the policy holds. */
export function heldBy(policy: StormPolicy, of: StormView): string[] {
  const decide = policy.judge(of);
  return [...of.nodes.values()].filter((one) => decide(one) !== undefined).map(({ name }) => name);
}

/** What the policy says of one node. */
export function holdOf(policy: StormPolicy, of: StormView, name = 'n0'): PolicyHold | undefined {
  const found = of.nodes.get(name);
  return found === undefined ? undefined : policy.judge(of)(found);
}
