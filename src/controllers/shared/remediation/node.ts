import type { Marks, ObjectRef } from './actions.ts';

export interface TaintFact {
  key: string;
  value?: string;
  effect: string;
}

/** The Node of a machine that is remediated; it may live in another cluster than the Machine. */
export interface NodeFacts {
  name: string;
  uid: string;
  labels: Marks;
  annotations: Marks;
  isDeleting: boolean;
  taints: readonly TaintFact[];
  /** spec.unschedulable. */
  isUnschedulable?: true;
  /** spec.providerID. */
  providerID?: string;
  /** Condition Ready is True. */
  isReady: boolean;
  /** When a renewed lease or heartbeat was last received, by the monotonic clock of this process; absent: none since it looks. */
  lifeSeenMs?: number;
}

export function nodeRef({ name, uid }: NodeFacts): ObjectRef {
  return { apiVersion: 'v1', kind: 'Node', name, uid };
}
