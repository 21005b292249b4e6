import type { OwnerReference } from '../../ports/objects.ts';
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
  /** So long must it have stood, and longer. */
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
  tellsTargets: boolean;
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
  /** Which cluster's Nodes: `nodesOf` of its Cluster; `''` is the one that this program runs in. */
  cluster: string;
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
  /** Under which `NodeFacts.cluster` its Nodes stand. */
  nodesOf: string;
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

/** What is not an object of the cluster. */
export interface Settings {
  /** The kind Cluster is served. False (no Cluster API): its gates are skipped. */
  hasClusters: boolean;
  /** How many machines of one check may be in remediation at once, where the check itself says nothing. Absent: as many as it allows. */
  maxInFlight?: IntOrPercent;
}

/**
 * Since when whom is heard, by the wall clock: an outage of the API server before it is no silence of anybody, and every timeout begins anew behind it. Absent:
 * always.
 */
export interface Heard {
  machinesMs?: number;
  /** By `NodeFacts.cluster`. */
  nodesMs: ReadonlyMap<string, number>;
}

/** All that `decide` reads, in one picture. Every list is complete, but for what is named unheard. */
export interface Snapshot extends Settings {
  /** Wall clock. */
  nowMs: number;
  heard?: Heard;
  checks: readonly ReadCheck[];
  machines: readonly MachineFacts[];
  nodes: readonly NodeFacts[];
  clusters: readonly ClusterFacts[];
  requests: readonly RequestFacts[];
  templates: readonly TemplateFacts[];
  /** `NodeFacts.cluster` whose Nodes can not be read now, or not yet: of them nothing is concluded. */
  unheardNodes?: ReadonlySet<string>;
  /** Kinds of requests and templates (`kindKey`) that are served and not read yet. A kind that is not served is not among them. */
  unheardKinds?: ReadonlySet<string>;
  /** By uid of the Machine: what the API server said to the last try to create its request. */
  refusals?: ReadonlyMap<string, string>;
  /** By uid of the Machine: who has its node now (an open fence, another remediator). Nothing new is asked for while it has. */
  claims?: ReadonlyMap<string, string>;
}

/** Names a kind in `unheardKinds`. */
export function kindKey(apiVersion: string, kind: string): string {
  return `${apiVersion} ${kind}`;
}

/** Names an object of one kind. */
export function keyOf({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`;
}
