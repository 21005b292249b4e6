import type { OwnerReference } from '../../ports/objects.ts';
import type { Sight } from '../shared/sights.ts';
import type { ConditionLists, ConditionPaths } from './conditions.ts';
import type { Labels, Selector } from './selector.ts';
import type { IntOrPercent, Trigger } from './threshold.ts';

/** Whose rules a check follows: Cluster API's (and the seed's), or those of OpenShift's machine-api-operator. */
export type Flavour = 'cluster-api' | 'openshift';

/** What every object has, as far as it is read. `resourceVersion` goes into each patch: what was decided on another state is refused. */
export interface ObjectFacts {
  apiVersion: string;
  namespace: string;
  name: string;
  uid: string;
  resourceVersion?: string;
}

export interface UnhealthyCondition {
  type: string;
  status: string;
  /** The condition must have lasted longer than this. */
  timeoutMs: number;
}

export interface TemplateRef {
  apiVersion: string;
  kind: string;
  name: string;
}

/** What the status of a MachineHealthCheck says now. */
export interface CheckStatus {
  expectedMachines?: number;
  currentHealthy?: number;
  remediationsAllowed?: number;
  observedGeneration?: number;
  targets?: readonly string[];
  conditions: ConditionLists;
}

/** A MachineHealthCheck of any version in one form. */
export interface HealthCheck extends ObjectFacts {
  flavour: Flavour;
  generation?: number;
  createdMs: number;
  isDeleting: boolean;
  /** Of the check itself, by its annotation. */
  isPaused: boolean;
  labels: Labels;
  ownerReferences: readonly OwnerReference[];
  /** Absent in the seed's v1alpha3 and in OpenShift: Machines of the namespace, and no gate of a Cluster. */
  clusterName?: string;
  selects: Selector;
  /** matchLabels: every machine that it selects has all of them. */
  matchLabels: Labels;
  /** 0: a machine may take as long as it likes to get a node. */
  startupTimeoutMs: number;
  nodeConditions: readonly UnhealthyCondition[];
  machineConditions: readonly UnhealthyCondition[];
  /** Absent: any number may be unhealthy. */
  trigger?: Trigger;
  /** Absent: the owner of the Machine remediates. */
  template?: TemplateRef;
  /** OpenShift's external-baremetal: the Machine is annotated. */
  annotatesMachines: boolean;
  /** Absent: that of the settings. */
  maxInFlight?: IntOrPercent;
  status: CheckStatus;
  paths: ConditionPaths;
  /** The status has `targets` and `observedGeneration`. */
  reportsTargets: boolean;
}

/** A Machine of `cluster.x-k8s.io` or `machine.openshift.io`. */
export interface MachineFacts extends ObjectFacts {
  generation?: number;
  labels: Labels;
  annotations: Labels;
  /** metadata.creationTimestamp. */
  createdMs: number;
  isDeleting: boolean;
  /** spec.clusterName, or the label. */
  clusterName?: string;
  /** status.nodeRef.name. */
  nodeName?: string;
  conditions: ConditionLists;
  paths: ConditionPaths;
  /** An owner that is its controller: who heeds OwnerRemediated. */
  hasController: boolean;
  /** OpenShift: status.phase. */
  phase?: string;
  /** OpenShift: status.lastUpdated. */
  lastUpdatedMs?: number;
}

export interface NodeCondition {
  type: string;
  status: string;
  reason: string;
  /** lastTransitionTime. */
  sinceMs: number;
}

export interface NodeFacts {
  name: string;
  conditions: readonly NodeCondition[];
}

/** A condition of a Cluster that gates its machines; `sinceMs` only where it is true and known. */
export interface Gate {
  isTrue: boolean;
  sinceMs?: number;
}

export interface ClusterFacts extends ObjectFacts {
  /** spec.paused. */
  isPaused: boolean;
  controlPlaneInitialized: Gate;
  infrastructureReady: Gate;
}

/** A remediation request: any object of a kind that a template of a check makes. */
export interface RequestFacts extends ObjectFacts {
  kind: string;
  isDeleting: boolean;
  /** uids of metadata.ownerReferences. */
  ownerUIDs: readonly string[];
}

export interface TemplateFacts extends ObjectFacts {
  kind: string;
  /** spec.template as it stands; absent: an empty request is made. */
  template?: Readonly<Record<string, unknown>>;
}

/** A check as far as it could be read, and what is wrong with it in the words of the API server's field errors. Nothing is done by one with a problem. */
export interface ReadCheck {
  check: HealthCheck;
  problems: readonly string[];
}

/** Since when the watches are heard, by the wall clock: an outage of the API server before it is no silence of anybody, and every timeout begins anew behind it. */
export interface FreshSince {
  machine: number;
  node: number;
}

/** A template; undefined: the check has none. unknown: its kind, or that of its requests, is not read yet. */
export type FoundTemplate = TemplateFacts | 'missing' | 'unknown' | undefined;

/** The cluster as it is known now. A Node is named by where it is, which is `''` for this cluster and else the Cluster behind whose kubeconfig it is, and its name. */
export interface ClusterSnapshot {
  /** All, of whatever namespace. */
  checks(): Iterable<ReadCheck>;
  /** Those that the check may select, by name: more than it does, never fewer. */
  candidatesOf(check: HealthCheck): readonly MachineFacts[];
  /** Undefined: Clusters are not served. */
  cluster(key: string): ClusterFacts | 'missing' | undefined;
  /** Where the Node of a Machine is. */
  placeOf(machine: MachineFacts): string;
  /** All that name a Node of this name at this place. */
  machinesOn(place: string, nodeName: string): readonly MachineFacts[];
  /** unknown: Nodes there can not be read now, or not yet: of them nothing is concluded. */
  node(place: string, name: string): NodeFacts | 'missing' | 'unknown';
  freshSinceMs(place: string): FreshSince;
  /** Since when we have seen its conditions, by type, and a Machine itself (`CREATED`). */
  sightOf(facts: MachineFacts | NodeFacts | ClusterFacts): Sight;
  /** What stands under the name that the request of this Machine has. */
  requestOf(check: HealthCheck, machine: MachineFacts): RequestFacts | undefined;
  templateOf(check: HealthCheck): FoundTemplate;
  /** Who has its Node now: an open fence, another remediator. */
  holderOf(machine: MachineFacts): string | undefined;
  /** What the API server said to the last try to create its request. */
  refusalOf(machine: MachineFacts): string | undefined;
  /** Why the Nodes of this place can not be read, as far as that is known. */
  whyUnknown(place: string): string | undefined;
  /** How many machines of one check may be in remediation at once, where the check itself says nothing. Undefined: as many as it allows. */
  readonly maxInFlight: IntOrPercent | undefined;
}

/** Names a kind of templates or requests. */
export function kindKey(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`;
}

/** Names an object of one kind. */
export function keyOf({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`;
}
