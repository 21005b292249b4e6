import type { StormNode, StormView } from './view.ts';

export const POLICY_NAMES = [
  'max-unhealthy',
  'max-concurrent',
  'rate',
  'failure-domain',
  'controller-isolated',
  'control-plane',
  'startup-grace',
  'maintenance',
  'cooldown',
  'windows',
  'alerts',
  'storage-reachable',
] as const;
export type PolicyName = (typeof POLICY_NAMES)[number];

/** Why a policy holds one node now. */
export interface PolicyHold {
  /** Lower case with dashes, from a closed set: a metric's label. */
  reason: string;
  /** The numbers filled in, and what would end it. */
  message: string;
  /** When time alone may end it, monotonic milliseconds; absent: only a change does. */
  untilMs?: number;
}

/** Holds, or does not, each node of one view. */
export type Verdict = (node: StormNode) => PolicyHold | undefined;

/** One configured policy (`fence-policy-<name>`, or a default). */
export interface StormPolicy {
  /** Its own name, as configured; unique. */
  name: string;
  policy: PolicyName;
  alarmAfterMs?: number;
  /** Looks at the whole view once; what it returns then costs next to nothing for each node. */
  judge(view: StormView): Verdict;
}
