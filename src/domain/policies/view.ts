/** What storm policies look at: one immutable picture of the whole cluster, taken by the shell in one synchronous turn. All times are monotonic milliseconds of this process. */
export interface StormView {
  nowMs: number;
  /** For windows that an admin wrote by the clock on the wall; never for a delay. */
  wallMs: number;
  nodes: ReadonlyMap<string, StormNode>;
  controller: ControllerView;
  controlPlane: ControlPlaneView;
  /** First isolating or switching run of each fence that began lately, oldest first; bounded. */
  starts: readonly { node: string; atMs: number }[];
  /** When each storm policy that had tripped let go again; `cooldown` counts from it. */
  stormEndedAtMs: number | undefined;
  /** `false`: what others say in objects beside the Nodes is being read, and any node may have such a mark. */
  areMarksRead?: boolean;
  /** Named alerts that the metrics server says fire, by the name of the policy that asks; `undefined`: it could not be asked. */
  alerts: ReadonlyMap<string, readonly string[] | undefined>;
}

export interface StormNode {
  name: string;
  labels: Readonly<Record<string, string>>;
  /** The Node's own, for `maintenance` with `annotation=`. */
  annotations?: Readonly<Record<string, string>>;
  isControlPlane: boolean;
  /**
   * `failed`: Ready is not True, or a fence of it has begun, or begins now, and is not final. `silent`: Ready still, but nothing was received for `life_wait`: in a
   * power or switch failure those are the next ones. Both count as unhealthy.
   */
  health: 'healthy' | 'silent' | 'failed';
  /** First sight of the present health. */
  healthSinceMs: number;
  /** Its machine failed and is kept for a look, whatever its conditions say by now: it counts as unhealthy. */
  isPreserved?: boolean;
  fence: StormFence | undefined;
  /** Somebody else's marks that say: this one is in hand (kured, NodeMaintenance, autoscaler, ...), in words, each with its source. */
  marks: readonly MaintenanceMark[];
  storage: StorageView | undefined;
}

export interface StormFence {
  /** Something isolating or switching was begun and nothing of it is over yet: it holds a slot until its release, its error, or an off on purpose. */
  holdsSlot: boolean;
  /** An off was sent in this restart: what becomes of it is read at the device, and is no judgement from afar any more. */
  isSwitchedOff?: boolean;
  /** It was begun, and is kept from going on (its machine for a look, or by a request that goes no further than isolation): its slot is given away. */
  isKept?: boolean;
  /** It was asked for by a person or a remediation object. */
  isRequested: boolean;
  /** A remedy asks for it, because a condition stands: nobody else does. */
  isRemedy?: boolean;
  state: 'new' | 'running' | 'done' | 'final' | 'error';
}

export interface MaintenanceMark {
  source: 'nodefence' | 'cordon' | 'kured' | 'medik8s-exclude' | 'node-maintenance' | 'autoscaler' | 'karpenter' | 'machine-controller-manager';
  /** `annotation x=y on Node a`. */
  where: string;
}

/** The seed's storage case; absent where nobody reports it. */
export interface StorageView {
  hostReaches: boolean | undefined;
  peersReach: boolean | undefined;
  renewsLease: boolean | undefined;
}

export interface ControllerView {
  ownNode: string | undefined;
  /** When this process began; a take-over is not a start. */
  startedAtMs: number;
  /** Was a leader seen in the minute before this process led? */
  tookOver: boolean;
  /** Nodes and Leases are known as of this time. */
  freshAtMs: number;
  /** They are known without a gap since this time. */
  freshSinceMs: number;
  /** Answers of what it was told to reach: gateways, API peers, by target; `undefined`: not asked yet. */
  targets: ReadonlyMap<string, boolean | undefined>;
}

export interface ControlPlaneView {
  /** `undefined`: it could not be found out (a managed control plane shows none). */
  members: readonly EtcdMember[] | undefined;
  /** Nodes whose hosts are being switched off on request, without a NodeFence: they count as lost, though they may be Ready yet. Absent: none is. */
  offOnRequest?: ReadonlySet<string>;
}

export interface EtcdMember {
  name: string;
  /** Node on which it runs. */
  node: string | undefined;
  isHealthy: boolean;
  /** Who says so: `static pod etcd-a`, `guard pod`, `health endpoint`. */
  source: string;
}
