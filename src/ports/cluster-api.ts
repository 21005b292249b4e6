import type { Resource } from './cluster.ts';
import type { KubeObject } from './objects.ts';

/**
 * Cluster API (`cluster.x-k8s.io`) and the Machines of OpenShift (`machine.openshift.io`), as far as they are read or written. Which version is spoken is
 * found by discovery. Objects of other groups (templates, remediation requests) are read without a type.
 */
export const CLUSTER_API_GROUP = 'cluster.x-k8s.io';
export const OPENSHIFT_GROUP = 'machine.openshift.io';

/** The first that is served is spoken. v1alpha3 is the shape of the proposal. */
export const CLUSTER_API_VERSIONS = ['v1beta2', 'v1beta1', 'v1alpha3'] as const;
export type ClusterApiVersion = (typeof CLUSTER_API_VERSIONS)[number];

/** An object of a kind that has no type here: what its spec and status hold is looked at member by member. */
export interface UntypedObject extends KubeObject {
  spec?: unknown;
  status?: unknown;
}

/** A condition of either list: `severity` only in that of v1beta1. */
export interface ClusterCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  severity?: string;
  /** RFC 3339. */
  lastTransitionTime?: string;
  observedGeneration?: number;
}

/** Where v1beta2 keeps the conditions of v1beta1, and the other way round. */
export interface BothConditionLists {
  conditions?: ClusterCondition[];
  /** In an object of v1beta1. */
  v1beta2?: { conditions?: ClusterCondition[] };
  /** In an object of v1beta2. */
  deprecated?: { v1beta1?: { conditions?: ClusterCondition[] } };
}

/** v1beta2 names the group only, older ones the version and the namespace too. */
export interface ClusterApiReference {
  apiGroup?: string;
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
}

/** A Machine of Cluster API or of OpenShift; which has no `clusterName` and no `infrastructureRef`. */
export interface ClusterMachine extends KubeObject {
  spec?: { clusterName?: string; providerID?: string; infrastructureRef?: ClusterApiReference; bootstrap?: { dataSecretName?: string } };
  status?: BothConditionLists & { nodeRef?: { name?: string; uid?: string }; phase?: string; lastUpdated?: string };
}

/** A Cluster of Cluster API. */
export interface ApiCluster extends KubeObject {
  spec?: { paused?: boolean; infrastructureRef?: ClusterApiReference };
  status?: BothConditionLists;
}

function resourceOf<T extends KubeObject>(group: string, version: string, kind: string, plural: string): Resource<T> {
  return { group, version, kind, plural, namespaced: true };
}

/** Machines of Cluster API in the version that is served. */
export function clusterMachines(version: ClusterApiVersion): Resource<ClusterMachine> {
  return resourceOf(CLUSTER_API_GROUP, version, 'Machine', 'machines');
}

export function apiClusters(version: ClusterApiVersion): Resource<ApiCluster> {
  return resourceOf(CLUSTER_API_GROUP, version, 'Cluster', 'clusters');
}

/** Of either group, in the version that is served. */
export function machineHealthChecks(group: string, version: string): Resource<UntypedObject> {
  return resourceOf(group, version, 'MachineHealthCheck', 'machinehealthchecks');
}

export const OPENSHIFT_MACHINES: Resource<ClusterMachine> = resourceOf(OPENSHIFT_GROUP, 'v1beta1', 'Machine', 'machines');
