import type { TrustedDevice } from '../domain/first-trust.ts';
import type { IncidentRecord } from '../domain/incident-record.ts';
import type { NodeFenceSpec, NodeFenceStatus } from '../domain/node-fence.ts';
import type { ProblemRecord } from '../domain/remedy/problem-record.ts';
import type { Resource } from './cluster.ts';
import type { RemediesStatus } from './remedies.ts';
import type { ConfigMap, KubeObject, Lease, Node, PersistentVolume, PersistentVolumeClaim, Pod, Secret, VolumeAttachment } from './objects.ts';

export const GROUP = 'ha.k8s.io';
export const VERSION = 'v1';

export interface NodeFence extends KubeObject {
  spec: NodeFenceSpec;
  status?: NodeFenceStatus;
}

/** A person's stop: while it exists nothing acts on the node, or on any node with `all`. */
export interface NodeFenceStop extends KubeObject {
  spec: { node?: string; all?: boolean; reason: string };
}

/** A person's word that a node is down: single use, bound to one incident (P1). */
export interface NodeFenceAcknowledgement extends KubeObject {
  spec: { node: string; nodeFenceUID: string; incident: number; bootID?: string; reason: string };
  status?: AcknowledgementStatus;
}

/** What the controller made of it; absent while it is pending. */
export interface AcknowledgementStatus {
  state?: 'accepted' | 'refused';
  message?: string;
  at?: string;
  /** Journal id of the run that used it. */
  usedBy?: string;
}

/** What outlives a fence; name = node. */
export interface NodeFenceReport extends KubeObject {
  spec?: {
    /** A person lets the node be fenced again after this incident, whatever its record says. */
    resumed?: { incident: number; reason: string };
    /** A person says to go on with remedies that had asked for one: by the episode, so that each word counts once. */
    resumedRemedies?: { threshold: string; episode: string; reason: string }[];
  };
  status?: {
    identity?: { nodeUID: string; systemUUID?: string; providerID?: string; addresses?: string[]; bootID?: string; recordedAt: string };
    incident?: number;
    consecutiveFailures?: number;
    fencesStartedAt?: string[];
    /** Its fences, the newest last; bounded. */
    incidents?: IncidentRecord[];
    conditions?: { type: string; status: string; reason: string; message: string; lastTransitionTime: string }[];
    problems?: { severity: string; where: string; message: string }[];
    /** Nobody is to fence this node, say its ConfigMaps (fence=never). */
    fence?: 'never';
    /** What the probes last found of every device that the node's fence depends on. */
    devices?: ProbedDevice[];
    /** What devices showed when they were first seen (`trust_on_first_use`). */
    trusted?: TrustedDevice[];
    /** What a device showed right before the last off, which destroyed it. */
    exhibits?: KeptDiagnostic[];
    /** Where its remedies are; written by the remedies controller alone. */
    remedies?: RemediesStatus;
    /** How often what alarms name happened to the node, and to whose pods; absent: not within their windows. */
    problemCounts?: ProblemRecord;
  };
}

/** Type of the condition that says whether the leader hears the node's daemon, and its reasons. */
export const NODE_DAEMON_HEARD = 'NodeDaemonHeard';
export type DaemonReason = 'WatchdogArmed' | 'HeartbeatsCome' | 'Silent' | 'AliveOnStorage' | 'Suspected' | 'TakenForFailed';

/** Type of the condition that says what was heard of the node's crash kernel. */
export const KERNEL_DUMP = 'KernelDump';

export interface KeptDiagnostic {
  incident: number;
  takenAt: string;
  agent: string;
  device: string;
  /** `sel`, `screenshot`. */
  name: string;
  mediaType: string;
  /** As the device gave it. */
  bytes: number;
  /** Its newest part, where it is text. */
  text?: string;
}

export interface ProbedDevice {
  agent: string;
  device: string;
  plug: string;
  /** The methods that use it. */
  methods: string[];
  path: 'working' | 'broken';
  /** What is wrong; the device's words. */
  message?: string;
  /** Since when the path is as it is. */
  since: string;
  certificateExpiresAt?: string;
  credentialExpiresAt?: string;
  /** One of them ends within three weeks. */
  expiresSoon?: boolean;
}

function core<T extends KubeObject>(kind: string, plural: string, namespaced: boolean): Resource<T> {
  return { group: '', version: 'v1', kind, plural, namespaced };
}

function own<T extends KubeObject>(kind: string, plural: string): Resource<T> {
  return { group: GROUP, version: VERSION, kind, plural, namespaced: false };
}

export const NAMESPACES = core<KubeObject>('Namespace', 'namespaces', false);
export const NODES = core<Node>('Node', 'nodes', false);
export const PODS = core<Pod>('Pod', 'pods', true);
export const PERSISTENT_VOLUME_CLAIMS = core<PersistentVolumeClaim>('PersistentVolumeClaim', 'persistentvolumeclaims', true);
export const PERSISTENT_VOLUMES = core<PersistentVolume>('PersistentVolume', 'persistentvolumes', false);
export const CONFIG_MAPS = core<ConfigMap>('ConfigMap', 'configmaps', true);
export const SECRETS = core<Secret>('Secret', 'secrets', true);
export const EVENTS = core<KubeObject>('Event', 'events', true);
export const LEASES: Resource<Lease> = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease', plural: 'leases', namespaced: true };
export const VOLUME_ATTACHMENTS: Resource<VolumeAttachment> = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  namespaced: false,
};
export const NODE_FENCES = own<NodeFence>('NodeFence', 'nodefences');
export const NODE_FENCE_STOPS = own<NodeFenceStop>('NodeFenceStop', 'nodefencestops');
export const NODE_FENCE_ACKNOWLEDGEMENTS = own<NodeFenceAcknowledgement>('NodeFenceAcknowledgement', 'nodefenceacknowledgements');
export const NODE_FENCE_REPORTS = own<NodeFenceReport>('NodeFenceReport', 'nodefencereports');
export const NODE_LEASE_NAMESPACE = 'kube-node-lease';
