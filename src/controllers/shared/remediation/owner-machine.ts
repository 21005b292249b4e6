import { timeText } from './actions.ts';
import type { ActionEvent, Marks, ObjectRef } from './actions.ts';

/** A condition of either list; `severity` stands in the older one alone. */
export interface ConditionFact {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  severity?: string;
  /** RFC 3339. */
  lastTransitionTime?: string;
}

/** The Machine that a remediation is for: of `cluster.x-k8s.io`, or of OpenShift. */
export interface OwnerMachine {
  apiVersion: string;
  name: string;
  namespace: string;
  uid: string;
  labels: Marks;
  annotations: Marks;
  isDeleting: boolean;
  /** It, or its Cluster, is paused. */
  isPaused: boolean;
  /** status.nodeRef.name. */
  nodeName?: string;
  /** metav1 conditions, wherever the served version keeps them. */
  conditions: readonly ConditionFact[];
  /** The conditions of v1beta1, wherever the served version keeps them. */
  olderConditions: readonly ConditionFact[];
}

/** Upserts by type, each list that is named, in one write of status. */
export interface TellMachine {
  kind: 'machine-conditions';
  target: ObjectRef;
  lists: readonly { path: readonly string[]; condition: ConditionFact }[];
  event?: ActionEvent;
}

/** A health check marks the machine as unhealthy as long as this stands, and never takes it away: whoever remedied it must. */
export const REMEDIATE_MACHINE = 'cluster.x-k8s.io/remediate-machine';

const CLUSTER_API = 'cluster.x-k8s.io/';
const WAITING = 'WaitingForRemediation';

export function machineRef({ apiVersion, name, namespace, uid }: OwnerMachine): ObjectRef {
  return { apiVersion, kind: 'Machine', name, namespace, uid };
}

/**
 * Hands the Machine back to its owner, who replaces it. In both lists: Cluster API from 1.11 reads the newer one alone, before it the older one. A False
 * that stands already is somebody's, and says the same. `undefined`: nothing is to be written, or the Machine's API knows no such condition.
 */
export function askOwner(machine: OwnerMachine, nowMs: number, event: ActionEvent): TellMachine | undefined {
  const wanted = { type: 'OwnerRemediated', status: 'False', reason: WAITING, message: 'Waiting for remediation' } as const;
  return tell(machine, wanted, nowMs, (standing) => standing?.status === 'False', event);
}

/** The external remediation's own condition, which nobody else writes after the request was made. */
export function tellRemediated(machine: OwnerMachine, nowMs: number): TellMachine | undefined {
  const wanted = { type: 'ExternallyRemediated', status: 'True', reason: 'Remediated', message: '' } as const;
  return tell(machine, wanted, nowMs, (standing) => standing?.status === 'True');
}

function tell(
  machine: OwnerMachine,
  wanted: Pick<ConditionFact, 'type' | 'status'> & { reason: string; message: string },
  nowMs: number,
  isSaid: (standing: ConditionFact | undefined) => boolean,
  event?: ActionEvent,
): TellMachine | undefined {
  if (!machine.apiVersion.startsWith(CLUSTER_API) || machine.isDeleting) return undefined;
  const lastTransitionTime = timeText(nowMs);
  const severity = wanted.status === 'False' ? { severity: 'Warning' } : {};
  const { newer, older } = pathsOf(machine.apiVersion);
  const lists = [
    { path: newer, standing: machine.conditions, condition: { ...wanted, lastTransitionTime } },
    { path: older, standing: machine.olderConditions, condition: { ...wanted, ...severity, lastTransitionTime } },
  ].filter(({ standing }) => !isSaid(standing.find(({ type }) => type === wanted.type)));
  if (lists.length === 0) return undefined;
  const written = lists.map(({ path, condition }) => ({ path, condition }));
  return { kind: 'machine-conditions', target: machineRef(machine), lists: written, ...(event !== undefined && { event }) };
}

/** Where the two lists stand in the version that is served. */
function pathsOf(apiVersion: string): { newer: readonly string[]; older: readonly string[] } {
  if (apiVersion === `${CLUSTER_API}v1beta1`) return { newer: ['status', 'v1beta2', 'conditions'], older: ['status', 'conditions'] };
  return { newer: ['status', 'conditions'], older: ['status', 'deprecated', 'v1beta1', 'conditions'] };
}
