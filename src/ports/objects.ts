/** The parts of Kubernetes objects that decide reads; everything else is pruned before it is cached. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  generateName?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  /** Who set which field; only in what was read by GET, and only from servers that keep it. */
  managedFields?: ManagedFields[];
}

/** metav1.ManagedFieldsEntry, as far as it is read. `fieldsV1` nests `f:<field>`. */
export interface ManagedFields {
  manager?: string;
  /** When the manager last set them, by the clock of the API server; a server before 1.25 may have it from when the fields came. */
  time?: string;
  /** Through which of its subresources, such as `status`. */
  subresource?: string;
  fieldsV1?: object;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

export interface Taint {
  key: string;
  value?: string;
  effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  timeAdded?: string;
}

export interface NodeCondition {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  reason?: string;
  message?: string;
  lastHeartbeatTime?: string;
  lastTransitionTime?: string;
}

export interface Node extends KubeObject {
  spec: { providerID?: string; unschedulable?: boolean; taints?: Taint[] };
  status: {
    conditions?: NodeCondition[];
    nodeInfo?: { bootID?: string; systemUUID?: string; machineID?: string };
    addresses?: { type: string; address: string }[];
  };
}

export interface Pod extends KubeObject {
  spec: {
    nodeName?: string;
    priority?: number;
    priorityClassName?: string;
    volumes?: { name: string; persistentVolumeClaim?: { claimName: string; readOnly?: boolean } }[];
    tolerations?: { key?: string; operator?: string; value?: string; effect?: string; tolerationSeconds?: number }[];
    terminationGracePeriodSeconds?: number;
  };
  status?: { phase?: string; conditions?: { type: string; status: string }[] };
}

export interface PersistentVolumeClaim extends KubeObject {
  spec: { volumeName?: string };
}

/** Whose storage it is on. */
export interface PersistentVolume extends KubeObject {
  spec: {
    storageClassName?: string;
    csi?: { driver: string; volumeHandle?: string; volumeAttributes?: Record<string, string> };
    nfs?: { server: string };
    iscsi?: { targetPortal: string };
  };
}

export interface VolumeAttachment extends KubeObject {
  spec: { attacher: string; nodeName: string; source: { persistentVolumeName?: string } };
  status?: { attached?: boolean };
}

export interface Lease extends KubeObject {
  spec: {
    holderIdentity?: string;
    leaseDurationSeconds?: number;
    acquireTime?: string;
    renewTime?: string;
    leaseTransitions?: number;
  };
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

/** `data` is base64, as the API serves it. */
export interface Secret extends KubeObject {
  data?: Record<string, string>;
  type?: string;
}
