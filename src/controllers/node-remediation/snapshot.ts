import type { HostFacts } from '../shared/baremetal-host/host.ts';
import type { Marks } from '../shared/remediation/actions.ts';
import type { NodeFacts } from '../shared/remediation/node.ts';
import type { ConditionFact, OwnerMachine } from '../shared/remediation/owner-machine.ts';
import type { FenceFacts } from '../shared/claims/fence-facts.ts';
import type { Phase } from './names.ts';
import type { Settings } from './spec.ts';

/** A `NodeFenceRemediation`, or the seed's kind of the same shape. */
export interface RequestFacts {
  apiVersion: string;
  kind: string;
  name: string;
  namespace: string;
  uid: string;
  labels: Marks;
  annotations: Marks;
  finalizers: readonly string[];
  createdMs: number;
  /** metadata.deletionTimestamp is set: the node is healthy again, or nobody wants it any more. */
  isDeleting: boolean;
  /** It, or its Cluster, is paused. */
  isPaused: boolean;
  settings: Settings;
  /** What its spec says that cannot be followed: then nothing is begun (P7). */
  problems: readonly string[];
  phase: Phase;
  retryCount: number;
  /** When the last fence for it was begun. */
  lastRemediatedMs?: number;
  /** status.nodeFenceRef.name. */
  nodeFence?: string;
  conditions: readonly ConditionFact[];
  /** Since when this process has seen it in this phase of this retry, or being deleted. */
  phaseSeenMs: number;
}

/** All that `decide` reads about one request. */
export interface Snapshot {
  /** Wall clock, for status and for what status says. */
  nowMs: number;
  /** Clock of everything `seenMs`. */
  monotonicMs: number;
  request: RequestFacts;
  /** none: no owner reference of kind Machine. gone: NotFound, or another uid under its name. */
  machine: OwnerMachine | 'none' | 'gone';
  /** The node that it names, where nobody knows in which cluster that is: neither it nor its fence is known of then. */
  lostNode?: string;
  /** By the name that targetOf finds, in the cluster of the Node. */
  node?: NodeFacts;
  /** Since when this process has seen that Node under its name. */
  nodeSeenMs: number;
  /** The NodeFence of that name, whosever it is. */
  fence?: FenceFacts;
  /** The Machine's host, where it has one that can be told of. */
  host?: HostFacts;
  /** Requests that have a fence under way, and how many may. */
  inFlight: { count: number; limit?: number };
}
