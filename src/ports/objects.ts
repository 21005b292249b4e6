import type {
  V1ConfigMap,
  V1CSIPersistentVolumeSource,
  V1ISCSIPersistentVolumeSource,
  V1LeaseSpec,
  V1ManagedFieldsEntry,
  V1NFSVolumeSource,
  V1NodeAddress,
  V1NodeCondition,
  V1NodeSpec,
  V1NodeSystemInfo,
  V1ObjectMeta,
  V1OwnerReference,
  V1PersistentVolumeClaimSpec,
  V1PersistentVolumeClaimVolumeSource,
  V1PersistentVolumeSpec,
  V1PodCondition,
  V1PodSpec,
  V1PodStatus,
  V1Secret,
  V1Taint,
  V1Toleration,
  V1Volume,
  V1VolumeAttachmentSource,
  V1VolumeAttachmentSpec,
  V1VolumeAttachmentStatus,
} from '@kubernetes/client-node';

// The parts of Kubernetes objects that decide reads; everything else is pruned before it is cached, so that it can not be named here either.

/** As it stands in JSON, where a time is text. */
type Json<T> = T extends Date ? string : T extends readonly (infer Item)[] ? Json<Item>[] : T extends object ? { [Key in keyof T]: Json<T[Key]> } : T;

/** These fields of a type of Kubernetes. */
type Fields<T, Key extends keyof T> = Json<Pick<T, Key>>;

type ServedFields =
  | 'namespace'
  | 'uid'
  | 'resourceVersion'
  | 'generation'
  | 'creationTimestamp'
  | 'deletionTimestamp'
  | 'deletionGracePeriodSeconds'
  | 'generateName'
  | 'labels'
  | 'annotations'
  | 'finalizers';

export interface ObjectMeta extends Fields<V1ObjectMeta, ServedFields> {
  name: string;
  ownerReferences?: OwnerReference[];
  /** Who set which field; only in what was read by GET, and only from servers that keep it. */
  managedFields?: ManagedFields[];
}

/**
 * `fieldsV1` nests `f:<field>`. `time` is when the manager last set them, by the clock of the API server; a server before 1.25 may have it from when the
 * fields came.
 */
export type ManagedFields = Fields<V1ManagedFieldsEntry, 'manager' | 'time' | 'subresource' | 'fieldsV1'>;

export type OwnerReference = Fields<V1OwnerReference, 'apiVersion' | 'kind' | 'name' | 'uid' | 'controller' | 'blockOwnerDeletion'>;

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

export interface Taint extends Fields<V1Taint, 'key' | 'value' | 'timeAdded'> {
  effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

export interface NodeCondition extends Fields<V1NodeCondition, 'type' | 'reason' | 'message' | 'lastHeartbeatTime' | 'lastTransitionTime'> {
  status: 'True' | 'False' | 'Unknown';
}

export interface Node extends KubeObject {
  spec: Fields<V1NodeSpec, 'providerID' | 'unschedulable' | 'podCIDR' | 'podCIDRs'> & { taints?: Taint[] };
  status: {
    conditions?: NodeCondition[];
    nodeInfo?: Partial<Fields<V1NodeSystemInfo, 'bootID' | 'systemUUID' | 'machineID'>>;
    addresses?: Fields<V1NodeAddress, 'type' | 'address'>[];
  };
}

type PodVolume = Fields<V1Volume, 'name'> & { persistentVolumeClaim?: Fields<V1PersistentVolumeClaimVolumeSource, 'claimName' | 'readOnly'> };

export interface Pod extends KubeObject {
  spec: Fields<V1PodSpec, 'nodeName' | 'priority' | 'priorityClassName' | 'terminationGracePeriodSeconds'> & {
    volumes?: PodVolume[];
    tolerations?: Fields<V1Toleration, 'key' | 'operator' | 'value' | 'effect' | 'tolerationSeconds'>[];
  };
  status?: Fields<V1PodStatus, 'phase'> & { conditions?: Fields<V1PodCondition, 'type' | 'status'>[] };
}

export interface PersistentVolumeClaim extends KubeObject {
  spec: Fields<V1PersistentVolumeClaimSpec, 'volumeName'>;
}

/** Whose storage it is on. */
export interface PersistentVolume extends KubeObject {
  spec: Fields<V1PersistentVolumeSpec, 'storageClassName'> & {
    csi?: Fields<V1CSIPersistentVolumeSource, 'driver' | 'volumeAttributes'> & Partial<Fields<V1CSIPersistentVolumeSource, 'volumeHandle'>>;
    nfs?: Fields<V1NFSVolumeSource, 'server'>;
    iscsi?: Fields<V1ISCSIPersistentVolumeSource, 'targetPortal'>;
  };
}

export interface VolumeAttachment extends KubeObject {
  spec: Fields<V1VolumeAttachmentSpec, 'attacher' | 'nodeName'> & { source: Fields<V1VolumeAttachmentSource, 'persistentVolumeName'> };
  status?: Partial<Fields<V1VolumeAttachmentStatus, 'attached'>>;
}

export interface Lease extends KubeObject {
  spec: Fields<V1LeaseSpec, 'holderIdentity' | 'leaseDurationSeconds' | 'acquireTime' | 'renewTime' | 'leaseTransitions'>;
}

export interface ConfigMap extends KubeObject, Fields<V1ConfigMap, 'data'> {}

/** `data` is base64, as the API serves it. */
export interface Secret extends KubeObject, Fields<V1Secret, 'data' | 'type'> {}
