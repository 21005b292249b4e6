/** How one simulated kubelet behaves. Milliseconds. */
export interface KubeletOptions {
  node: string;
  bootID: string;
  systemUUID?: string | undefined;
  providerID?: string | undefined;
  address?: string | undefined;
  labels?: Readonly<Record<string, string>> | undefined;
  /** Lease renewal. Kubernetes: 10 s. */
  renewMs: number;
  /** Status post while nothing changes. Kubernetes: 5 min. */
  heartbeatMs: number;
  /** `spec.leaseDurationSeconds` of the node's Lease. */
  leaseDurationSeconds: number;
  /** From volumes attached to container running. */
  startDelayMs: number;
  /** Between two counters that one pod writes to its disk. */
  writeMs: number;
}

export const KUBERNETES_KUBELET = {
  renewMs: 10_000,
  heartbeatMs: 300_000,
  leaseDurationSeconds: 40,
  startDelayMs: 1_000,
  writeMs: 1_000,
} as const satisfies Partial<KubeletOptions>;

export const SHORT_KUBELET = {
  renewMs: 500,
  heartbeatMs: 5_000,
  leaseDurationSeconds: 40,
  startDelayMs: 300,
  writeMs: 100,
} as const satisfies Partial<KubeletOptions>;

export type ControllerName =
  | 'node-lifecycle'
  | 'taint-eviction'
  | 'pod-gc'
  | 'attach-detach'
  | 'stateful-set'
  | 'volume-binding'
  | 'csi-attacher'
  | 'scheduler';

/** What runs in a cluster beside kube-controller-manager. */
export const BESIDE_CONTROLLER_MANAGER: readonly ControllerName[] = ['scheduler', 'csi-attacher'];

/** How kube-controller-manager, kube-scheduler and the CSI attacher behave. Milliseconds. */
export interface ClusterOptions {
  /** Ready becomes Unknown after so long without a lease or heartbeat received (`--node-monitor-grace-period`). */
  nodeGraceMs: number;
  /** `tolerationSeconds` that new pods get for not-ready and unreachable (DefaultTolerationSeconds admission). */
  tolerationSeconds: number;
  /** Period of the pod garbage collector. No flag of kube-controller-manager changes it: the drill waits for it as a real cluster does. */
  gcMs: number;
  /** A pod of a Node that does not exist is left so long (pod GC quarantine). */
  orphanQuarantineMs: number;
  /** A volume still mounted on an unhealthy node is detached all the same after so long (ReconcilerMaxWaitForUnmountDuration). */
  forceDetachMs: number;
  /** From VolumeAttachment to `status.attached`. */
  attachMs: number;
  /** Beside a real kube-controller-manager only what it lacks is played; everything when absent. */
  only?: readonly ControllerName[];
}

export const KUBERNETES_CLUSTER: ClusterOptions = {
  nodeGraceMs: 40_000,
  tolerationSeconds: 300,
  gcMs: 20_000,
  orphanQuarantineMs: 40_000,
  forceDetachMs: 360_000,
  attachMs: 1_000,
};

export const SHORT_CLUSTER: ClusterOptions = { ...KUBERNETES_CLUSTER, nodeGraceMs: 4_000, attachMs: 200 };
