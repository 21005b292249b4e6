import { NOBODY } from './policy.ts';
import type { PolicyHold, PolicyName, StormPolicy, StormReason, HoldOf } from './policy.ts';
import { holdersOf, unhealthyOf } from './node-set.ts';
import type { StormNode, StormView } from './view.ts';

/** What every policy may be told. */
export interface CommonSettings {
  /** The policy's own name, unique. */
  name: string;
  /** Nodes that it counts and holds, by their labels; absent: all. */
  scope?: (labels: Readonly<Record<string, string>>) => boolean;
  alarmAfterMs?: number;
}

/** A hold, or none: with a reason from the closed set. */
export type Ruling = (node: StormNode) => (PolicyHold & { reason: StormReason }) | undefined;

/** A policy that holds nobody outside its scope. */
export function stormPolicy(policy: PolicyName, { name, scope, alarmAfterMs }: CommonSettings, judge: (view: StormView) => Ruling): StormPolicy {
  return {
    name,
    policy,
    ...(alarmAfterMs !== undefined && { alarmAfterMs }),
    judge: (view): HoldOf => {
      const ruling = judge(view);
      return scope === undefined || ruling === NOBODY ? ruling : (node) => (scope(node.labels) ? ruling(node) : undefined);
    },
  };
}

/** The nodes that a policy counts. */
export function nodesOf({ scope }: CommonSettings, view: StormView): StormNode[] {
  const all = [...view.nodes.values()];
  return scope === undefined ? all : all.filter(({ labels }) => scope(labels));
}

/** How many nodes a policy counts. */
export function countOf({ scope }: CommonSettings, view: StormView): number {
  return scope === undefined ? view.nodes.size : nodesOf({ name: '', scope }, view).length;
}

/** Of them those that are unhealthy. */
export function unhealthyIn({ scope }: CommonSettings, view: StormView): StormNode[] {
  return within(scope, unhealthyOf(view.nodes));
}

/** Of them those that hold a slot. */
export function holdersIn({ scope }: CommonSettings, view: StormView): StormNode[] {
  return within(scope, holdersOf(view.nodes));
}

function within(scope: CommonSettings['scope'], nodes: StormNode[]): StormNode[] {
  return scope === undefined ? nodes : nodes.filter(({ labels }) => scope(labels));
}

/** Holds everybody for the same reason, or nobody. */
export function forAll(hold: ReturnType<Ruling>): Ruling {
  return hold === undefined ? NOBODY : () => hold;
}

const WORDS_MAX = 3;

/** `a, b, c and 4 more`. */
export function named(names: readonly string[]): string {
  const shown = names.slice(0, WORDS_MAX).join(', ');
  return names.length > WORDS_MAX ? `${shown} and ${names.length - WORDS_MAX} more` : shown;
}

/** `90 s`, `12 min`, `3 h`: rounded up, so that nobody looks too early. */
export function lasting(ms: number): string {
  const seconds = Math.ceil(Math.max(0, ms) / 1000);
  if (seconds < 180) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 180 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
