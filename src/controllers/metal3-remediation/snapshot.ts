import type { HostFacts } from '../shared/baremetal-host/host.ts';
import type { HoldFact, Marks } from '../shared/remediation/actions.ts';
import type { NodeFacts } from '../shared/remediation/node.ts';
import type { OwnerMachine } from '../shared/remediation/owner-machine.ts';
import type { Phase } from './names.ts';
import type { Settings } from './spec.ts';

/** A `Metal3Remediation`; its status as phaseOf reads it. */
export interface RemediationFacts {
  apiVersion: string;
  name: string;
  namespace: string;
  uid: string;
  annotations: Marks;
  finalizers: readonly string[];
  /** metadata.deletionTimestamp is set: the machine is healthy again, or nobody wants it any more. */
  isDeleting: boolean;
  /** It, or its Cluster, is paused. */
  isPaused: boolean;
  /** Whether an owner reference of kind Machine stands there. */
  hasOwner: boolean;
  settings: Settings;
  /** What its spec says that cannot be followed. */
  problems: readonly string[];
  phase: Phase;
  retryCount: number;
  lastRemediatedMs?: number;
  /** Since when this process has seen it in this phase of this retry, or being deleted. */
  phaseSeenMs: number;
}

/** What of the Node's workload is not let go yet, in the cluster of the Node. */
export interface DrainFacts {
  /** Pods of the Node with a deletionTimestamp. */
  terminatingPods: number;
  /** Pods that the taint ends at once, and whose deletion nobody has asked for yet: Kubernetes may be slow to, and forgets it when the taint goes. */
  awaitedPods: number;
  /** VolumeAttachments with its name. */
  volumeAttachments: number;
  /** Since when this process sees the taint. */
  seenMs: number;
}

/** All that `decide` reads about one remediation. */
export interface Snapshot {
  /** Wall clock, for status and for what status says. */
  nowMs: number;
  /** Clock of everything `seenMs`. */
  monotonicMs: number;
  remediation: RemediationFacts;
  /** gone: NotFound, or another uid under its name. */
  machine: OwnerMachine | 'gone';
  /** The Metal3Machine of the Machine, which consumes the host. */
  infrastructure?: { name: string; namespace: string };
  /** What that names; where it is gone, the host with this remediation's hold. */
  host?: HostFacts;
  node: NodeFacts | 'not-found' | 'forbidden' | 'unknown';
  drain?: DrainFacts;
  /** The cluster of the Node is 1.28 or newer. Unknown counts as no: the Node is deleted then. */
  servesOutOfService: boolean;
  /** Our own agents can read the BMC. */
  canReadBmc: boolean;
  holds: readonly HoldFact[];
  /** Who else has the node, in words. */
  takenBy?: string;
}
