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
  /** Those of v1beta1, in a Machine of that version. */
  olderConditions: readonly ConditionFact[];
}

/** Upserts by type, each list that is named, in one write of status. */
export interface MachineReport {
  kind: 'machine-conditions';
  target: ObjectRef;
  lists: readonly { path: readonly string[]; condition: ConditionFact }[];
  /** It is for readers only: where the API server refuses it, the rest goes on all the same. */
  mayBeRefused?: true;
  event?: ActionEvent;
}

/** A health check marks the machine as unhealthy as long as this stands, and never takes it away: whoever remedied it must. */
export const REMEDIATE_MACHINE = 'cluster.x-k8s.io/remediate-machine';

const OWNER_REMEDIATED = 'OwnerRemediated';
/** Its health check says True or False of it; its owner replaces it only while this is False. */
const HEALTH_CHECK_SUCCEEDED = 'HealthCheckSucceeded';
/** Reasons of Unknown there: nobody looks at the machine any more who has found it ill before. */
export const NOT_CHECKED = { paused: 'HealthCheckPaused', gone: 'NoHealthCheck' } as const;
const CLUSTER_API = 'cluster.x-k8s.io/';
const WAITING = 'WaitingForRemediation';

export function machineRef({ apiVersion, name, namespace, uid }: OwnerMachine): ObjectRef {
  return { apiVersion, kind: 'Machine', name, namespace, uid };
}

/**
 * Hands the Machine back to its owner, who replaces it. A False that stands already is somebody's, and says the same. `undefined`: nothing is to be written, or
 * the Machine's API knows no such condition.
 */
export function askOwner(machine: OwnerMachine, nowMs: number, event: ActionEvent): MachineReport | undefined {
  const wanted = { type: OWNER_REMEDIATED, status: 'False', reason: WAITING, message: 'Waiting for remediation' } as const;
  return reported(machine, wanted, nowMs, (standing) => standing?.status === 'False', event);
}

/** It has the Machine taken down, and another made: what a person's stop holds (P6). */
export function asksOwner({ lists }: Pick<MachineReport, 'lists'>): boolean {
  return lists.some(({ condition: { type, status } }) => type === OWNER_REMEDIATED && status === 'False');
}

/** The external remediation's own condition, which nobody else writes after the request was made. */
export function reportRemediated(machine: OwnerMachine, nowMs: number, message: string): MachineReport | undefined {
  const wanted = { type: 'ExternallyRemediated', status: 'True', reason: 'Remediated', message } as const;
  const told = reported(machine, wanted, nowMs, (standing) => standing?.status === 'True');
  return told === undefined ? undefined : { ...told, mayBeRefused: true };
}

/** What is said of the health of a Machine of Cluster API, whatever its Node says of itself; `undefined`: nothing. */
export function isFoundIll({ apiVersion, annotations, conditions, olderConditions }: OwnerMachine): boolean | undefined {
  if (!apiVersion.startsWith(CLUSTER_API)) return undefined;
  if (annotations[REMEDIATE_MACHINE] !== undefined) return true;
  const { status: said, reason } = [...conditions, ...olderConditions].find(({ type }) => type === HEALTH_CHECK_SUCCEEDED) ?? {};
  if (said === 'Unknown' && Object.values<string | undefined>(NOT_CHECKED).includes(reason)) return false;
  return said === undefined || said === 'Unknown' ? undefined : said === 'False';
}

function reported(
  machine: OwnerMachine,
  wanted: Pick<ConditionFact, 'type' | 'status'> & { reason: string; message: string },
  nowMs: number,
  isSaid: (standing: ConditionFact | undefined) => boolean,
  event?: ActionEvent,
): MachineReport | undefined {
  if (!machine.apiVersion.startsWith(CLUSTER_API) || machine.isDeleting) return undefined;
  const condition = { ...wanted, lastTransitionTime: timeText(nowMs) };
  const lists = listsOf(machine, condition).filter(({ standing }) => !isSaid(standing.find(({ type }) => type === wanted.type)));
  if (lists.length === 0) return undefined;
  const written = lists.map(({ path, condition: said }) => ({ path, condition: said }));
  return { kind: 'machine-conditions', target: machineRef(machine), lists: written, ...(event !== undefined && { event }) };
}

/**
 * Cluster API reads `status.conditions` alone since Machines are of v1beta2, and what stands below `deprecated` is its own history. An older one, which serves
 * no more than v1beta1, reads that version's own list, and since 1.9 has the newer one beside it.
 */
function listsOf(
  { apiVersion, conditions, olderConditions }: OwnerMachine,
  condition: ConditionFact,
): { path: readonly string[]; standing: readonly ConditionFact[]; condition: ConditionFact }[] {
  if (apiVersion !== `${CLUSTER_API}v1beta1`) return [{ path: ['status', 'conditions'], standing: conditions, condition }];
  const severity = condition.status === 'False' ? { severity: 'Warning' } : {};
  return [
    { path: ['status', 'v1beta2', 'conditions'], standing: conditions, condition },
    { path: ['status', 'conditions'], standing: olderConditions, condition: { ...condition, ...severity } },
  ];
}
