import type { Resource } from '../../ports/cluster.ts';
import type { KubeObject, Node, Pod } from '../../ports/objects.ts';

/** Kinds that only the simulated cluster needs; fields that nothing here reads are left out. */
export interface PersistentVolume extends KubeObject {
  spec: {
    storageClassName?: string;
    accessModes?: string[];
    capacity?: Record<string, string>;
    claimRef?: { apiVersion?: string; kind?: string; namespace: string; name: string; uid?: string };
    [field: string]: unknown;
  };
  status?: { phase?: string };
}

export interface PersistentVolumeClaim extends KubeObject {
  spec: { storageClassName?: string; accessModes?: string[]; resources?: unknown; volumeName?: string };
  status?: { phase?: string; [field: string]: unknown };
}

export interface StatefulSet extends KubeObject {
  spec: {
    replicas?: number;
    serviceName?: string;
    podManagementPolicy?: 'OrderedReady' | 'Parallel';
    selector: { matchLabels: Record<string, string> };
    template: { metadata: { labels?: Record<string, string>; annotations?: Record<string, string> }; spec: PodTemplateSpec };
    volumeClaimTemplates?: { metadata: { name: string }; spec: PersistentVolumeClaim['spec'] }[];
  };
  status?: { replicas?: number; readyReplicas?: number; currentReplicas?: number; updatedReplicas?: number; observedGeneration?: number };
}

export type PodTemplateSpec = Pod['spec'] & {
  containers?: { name: string; image?: string }[];
  terminationGracePeriodSeconds?: number;
  restartPolicy?: string;
  activeDeadlineSeconds?: number;
  nodeSelector?: Record<string, string>;
  affinity?: PodAffinity;
};

export interface NodeRequirement {
  key: string;
  operator: string;
  values?: string[];
}

export interface NodeTerm {
  matchExpressions?: NodeRequirement[];
  matchFields?: NodeRequirement[];
}

/** What a scheduler must heed of a pod's affinity; what it only prefers is left out. */
export interface PodAffinity {
  nodeAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { nodeSelectorTerms?: NodeTerm[] } };
}

/** A Pod with what kubelets read of it. */
export interface WorldPod extends Pod {
  spec: PodTemplateSpec;
}

/** A Node with the volumes that its kubelet says are mounted: what attach-detach waits for (`status.volumesInUse`). */
export interface WorldNode extends Node {
  status: Node['status'] & { volumesInUse?: string[] };
}

export const WORLD_NODES: Resource<WorldNode> = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false };
export const WORLD_PODS: Resource<WorldPod> = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
export const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
export const PERSISTENT_VOLUMES: Resource<PersistentVolume> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  plural: 'persistentvolumes',
  namespaced: false,
};
export const PERSISTENT_VOLUME_CLAIMS: Resource<PersistentVolumeClaim> = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  namespaced: true,
};
export const STATEFUL_SETS: Resource<StatefulSet> = { group: 'apps', version: 'v1', kind: 'StatefulSet', plural: 'statefulsets', namespaced: true };
export const STORAGE_CLASSES: Resource = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  plural: 'storageclasses',
  namespaced: false,
};
export const POD_DISRUPTION_BUDGETS: Resource = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  namespaced: true,
};

/** Of servers before 1.21, which know no other. */
export const OLD_POD_DISRUPTION_BUDGETS: Resource = { ...POD_DISRUPTION_BUDGETS, version: 'v1beta1' };

/** Name of the drill's CSI driver, and of its attacher. */
export const CSI_DRIVER = 'drill.nodefence';

/** How a kubelet names a mounted volume in `status.volumesInUse`. */
export function volumeInUseName(volume: string): string {
  return `kubernetes.io/csi/${CSI_DRIVER}^${volume}`;
}

/** `namespace/name`, or `name` for a cluster-scoped object. */
export function keyOf(object: KubeObject): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export function isReady(node: Node | undefined): boolean {
  return node?.status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true;
}

export function isPodReady(pod: Pod): boolean {
  return pod.status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true;
}

export function isPodFinished(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}
