import type { OwnerReference } from '../../src/ports/objects.ts';
import type { Condition } from '../../src/controllers/machine-health-check/conditions.ts';
import type { UntypedObject } from '../../src/ports/cluster-api.ts';

export const NOW_MS = Date.UTC(2027, 0, 1);
export const NAMESPACE = 'default';
export const CLUSTER = 'c1';
export const MINUTE_MS = 60_000;

/** RFC 3339; so many seconds ago. */
export function ago(seconds: number, nowMs = NOW_MS): string {
  return new Date(nowMs - seconds * 1_000).toISOString();
}

export type Version = 'v1beta2' | 'v1beta1';

export interface MachineParts {
  namespace?: string;
  uid?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ageSeconds?: number;
  isDeleting?: boolean;
  clusterName?: string | null;
  nodeName?: string | null;
  /** The list of v1beta2. */
  conditions?: Condition[];
  /** The list of v1beta1. */
  deprecated?: Condition[];
  owners?: OwnerReference[];
}

const OWNER: OwnerReference = { apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'MachineSet', name: 'set', uid: 'uid-set', controller: true };

/** The status of a Machine as that version holds its two lists. */
function listed(version: Version, conditions: Condition[], deprecated: Condition[]): object {
  if (version === 'v1beta2') return { conditions, deprecated: { v1beta1: { conditions: deprecated } } };
  return { v1beta2: { conditions }, conditions: deprecated };
}

/** A Machine of Cluster API on the node of its own name, well and owned by a MachineSet unless `parts` says otherwise. */
export function machineObject(name: string, parts: MachineParts = {}, version: Version = 'v1beta2'): UntypedObject {
  const { namespace = NAMESPACE, clusterName = CLUSTER, nodeName = `node-of-${name}` } = parts;
  const infrastructureRef = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'DrillMachine', name };
  return {
    apiVersion: `cluster.x-k8s.io/${version}`,
    kind: 'Machine',
    metadata: {
      name,
      namespace,
      uid: parts.uid ?? `uid-${name}`,
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: ago(parts.ageSeconds ?? 7_200),
      labels: { role: 'worker', ...parts.labels },
      annotations: parts.annotations ?? {},
      ownerReferences: parts.owners ?? [OWNER],
      ...(parts.isDeleting === true && { deletionTimestamp: ago(10) }),
    },
    spec: { ...(clusterName !== null && { clusterName }), bootstrap: { dataSecretName: `bootstrap-${name}` }, infrastructureRef },
    status: { ...listed(version, parts.conditions ?? [], parts.deprecated ?? []), ...(nodeName !== null && { nodeRef: { name: nodeName } }) },
  };
}

/** A MachineHealthCheck; `spec` is all of it but what every one has. */
export function checkObject(name: string, spec: object = {}, version = 'v1beta2', parts: Partial<UntypedObject['metadata']> = {}): UntypedObject {
  const isSeed = version === 'v1alpha3';
  return {
    apiVersion: `cluster.x-k8s.io/${version}`,
    kind: 'MachineHealthCheck',
    metadata: { name, namespace: NAMESPACE, uid: `uid-${name}`, resourceVersion: '1', generation: 1, creationTimestamp: ago(86_400), ...parts },
    spec: { ...(!isSeed && { clusterName: CLUSTER }), selector: { matchLabels: { role: 'worker' } }, ...spec },
  };
}

export function nodeConditionsOf(status: 'True' | 'False' | 'Unknown', ageSeconds: number, reason = 'SomeReason'): object[] {
  return [{ type: 'Ready', status, reason, lastTransitionTime: ago(ageSeconds) }];
}

export interface ClusterParts {
  name?: string;
  namespace?: string;
  isPaused?: boolean;
  controlPlaneInitialized?: { is: boolean; ageSeconds: number };
  infrastructureReady?: { is: boolean; ageSeconds: number };
}

const UP = { is: true, ageSeconds: 36_000 };

export function clusterObject(parts: ClusterParts = {}): UntypedObject {
  const condition = (type: string, { is, ageSeconds }: { is: boolean; ageSeconds: number }): Condition => ({
    type,
    status: is ? 'True' : 'False',
    reason: type,
    message: '',
    lastTransitionTime: ago(ageSeconds),
  });
  const { name = CLUSTER, namespace = NAMESPACE } = parts;
  return {
    apiVersion: 'cluster.x-k8s.io/v1beta2',
    kind: 'Cluster',
    metadata: { name, namespace, uid: `uid-${name}`, resourceVersion: '1' },
    spec: { paused: parts.isPaused === true },
    status: {
      conditions: [
        condition('ControlPlaneInitialized', parts.controlPlaneInitialized ?? UP),
        condition('InfrastructureReady', parts.infrastructureReady ?? UP),
      ],
    },
  };
}

export const TEMPLATE_REF = { apiVersion: 'remediation.example.io/v1', kind: 'PowerCycleTemplate', name: 'cycle' };

export function templateObject(content: object = { spec: { strategy: 'escalate' } }): UntypedObject {
  return {
    apiVersion: TEMPLATE_REF.apiVersion,
    kind: TEMPLATE_REF.kind,
    metadata: { name: TEMPLATE_REF.name, namespace: NAMESPACE, uid: 'uid-cycle' },
    spec: { template: content },
  };
}

/** The request for a Machine as it stands in the cluster. */
export function requestObject(machine: string, parts: { isDeleting?: boolean; ownerUID?: string } = {}): UntypedObject {
  return {
    apiVersion: TEMPLATE_REF.apiVersion,
    kind: 'PowerCycle',
    metadata: {
      name: machine,
      namespace: NAMESPACE,
      uid: `uid-request-${machine}`,
      ...(parts.isDeleting === true && { deletionTimestamp: ago(5) }),
      ownerReferences: [{ apiVersion: 'cluster.x-k8s.io/v1beta2', kind: 'Machine', name: machine, uid: parts.ownerUID ?? `uid-${machine}` }],
    },
  };
}
