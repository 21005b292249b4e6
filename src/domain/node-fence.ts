import type { EvidenceGrade, EvidenceKind, MethodAction, Plan, ReleaseMode, Step } from './plan.ts';

/** The record of fencing one node: `ha.k8s.io/v1` NodeFence. Times on the wire are RFC 3339. */
export type FenceState = 'new' | 'running' | 'done' | 'final' | 'error';
export const FENCE_STATES: readonly FenceState[] = ['new', 'running', 'done', 'final', 'error'];

export type Outcome = 'recovered' | 'untouched' | 'replaced' | 'fenced-off' | 'node-gone' | 'failed' | 'stopped';

export interface NodeFenceSpec {
  node: string;
  /** Whoever asked for the fence: a remediation object, or a person (`kind: 'Person'`). Taken up once for each uid; see health.ts. */
  requestedBy?: { apiVersion: string; kind: string; namespace?: string; name: string; uid: string };
  /** Belongs to the request: the machine is switched off, proven off, its workload released, and then it stays off. Absent: it is brought back. */
  ending?: 'off';
  /** Belongs to the request: how its workload is released; none: a machine that is only to be switched off and on again. Absent: as the node's configuration says. */
  release?: ReleaseMode;
  /** Belongs to the request: the fence goes through this step, and then waits for as long as it is asked for. Absent: it goes on. */
  lastStep?: 'isolation';
  /**
   * Belongs to the request: the fence has exactly these methods of the node's configuration, in this order; those of power agents are its power-management, all
   * others its isolation. Absent: as the steps are configured. Recovery always is.
   */
  methods?: string[];
}

/** What of a request decides which plan is frozen. */
export type AskedMethods = Required<Pick<NodeFenceSpec, 'methods'>> & Pick<NodeFenceSpec, 'lastStep'>;

export interface Trigger {
  /** `heartbeat`: fast detection found it before Kubernetes did. */
  kind: 'node-condition' | 'heartbeat' | 'remediation' | 'person';
  conditionType?: string;
  status?: string;
  reason?: string;
  since: string;
  bootID?: string;
  /** uid of the request (`spec.requestedBy`) that this incident serves; a final fence takes up only another one. */
  requestUID?: string;
}

export interface Frozen {
  nodeUID: string;
  systemUUID?: string;
  providerID?: string;
  /** Internal addresses of the Node. */
  addresses?: string[];
  bootID?: string;
  plan: Plan;
  /** The plan was made of this. Absent: of the configured steps. */
  asked?: AskedMethods;
}

export type JobResult =
  | 'succeeded'
  | 'refused'
  | 'unreachable'
  | 'timeout'
  | 'misconfigured'
  | 'not-sent'
  | 'stopped'
  | 'voided'
  | 'failed'
  | 'interrupted'
  | 'found-done'
  | 'found-not-done';

/** One run, written before (intent) and after (result). The only trace of a run that may have happened (P4). */
export interface JournalEntry {
  /** `<method>-<uuid>`, the shape of the seed's job names. */
  id: string;
  step: Step;
  level: number;
  /** Position in the step's program; see program.ts. */
  operation: string;
  method: string;
  agent: string;
  device: string;
  plug: string;
  action: MethodAction | 'release' | 'release-end' | 'confirm' | 'acknowledge';
  /** 1 for the first run of this operation in this incident and restart. */
  attempt: number;
  restart: number;
  runner: 'in-process' | 'child' | 'job';
  epoch: number;
  startedAt: string;
  /** How long a set begun under this intent may take, counted from when a successor first sees it. */
  deadlineMs: number;
  /** The node's boot ID when the intent was written. */
  bootID?: string;
  /** The device showed the wanted state before the set: what this set does can not be told from what was before, and may still come. */
  edgeUnseen?: boolean;
  /** An off of this run has left, for sure: a later run whose program sends nothing to what is off already may rest on it (P1). `false`: none has, for sure, nor has a program begun. */
  offSent?: boolean;
  /** Methods whose device restarted between an off and its proof: they are switched off again, whatever they show. */
  restarted?: string[];
  finishedAt?: string;
  result?: JobResult;
  message?: string;
}

export interface Evidence {
  kind: EvidenceKind;
  grade: EvidenceGrade;
  /** Journal id of the run that gave it. */
  source: string;
  /** Reads, witnesses and identity check, as text. */
  detail: string;
  identity?: 'verified' | 'unverified';
  observedAt: string;
  bootID?: string;
  /** The device's own clock at the last read. */
  deviceTime?: string;
  /** `storage-revoked`: the storages that the node can not write to any more. */
  storages?: string[];
  /** The instance cannot come back: this fence has deleted it. */
  terminated?: boolean;
  voidedAt?: string;
  voidedBecause?: string;
}

export interface Hold {
  reason: string;
  policy: string;
  message: string;
  since: string;
  /** When the words last changed; at most once a minute. Absent: at `since`. */
  checkedAt?: string;
  /** When a person was told last that the fence waits for too long: for this hold, or for one right before it. */
  alarmedAt?: string;
  /** When it ends by time alone. Absent: only a change ends it, or it is unknown. */
  until?: string;
  /** What else holds; at most so many as `LIMITS.besides`. */
  besides?: OtherHold[];
  /** In mode observe: since when nothing else holds. Absent: something does. */
  freeSince?: string;
}

/** A hold that stands beside the recorded one. */
export type OtherHold = Pick<Hold, 'reason' | 'policy' | 'message' | 'until'>;

/** What we set and must take back (P8). */
export interface Restore {
  cordoned?: boolean;
  taints?: { key: string; value: string; effect: string }[];
  annotations?: Record<string, string>;
  /** Devices left off or ports left closed by us: method names. */
  edges?: { method: string; agent: string; device: string; plug: string; state: 'off' | 'closed' }[];
}

/** A pod that a release asked for and did not get. */
export interface KeptPod {
  /** `namespace/name`. */
  pod: string;
  /** What the API server answered, or that it has not answered. */
  by: string;
  /** It is unknown whether it was released nevertheless. */
  isUnsure?: boolean;
}

/** A VolumeAttachment that a release asked for and did not get. */
export interface KeptVolume {
  /** Its name. */
  attachment: string;
  /** What the API server answered, or that it has not answered. */
  by: string;
  /** It is unknown whether it was deleted nevertheless. */
  isUnsure?: boolean;
}

export interface Released {
  by: 'out-of-service' | 'delete-pods' | 'evict';
  at: string;
  pods: number;
  /** Evidence it rests on (its `source`). */
  evidence: string;
  /** Pods that later batches still have to let go; absent or 0, and no volume is kept: the release is complete. */
  left?: number;
  /** Number of the last batch that released something. */
  batch?: number;
  /** Pods that were asked for and are not let go, the first of them; each is asked for again, less and less often. */
  kept?: KeptPod[];
  /** VolumeAttachments that were to be deleted after the last pod and still stand, the first of them; asked for again in the same way. */
  keptVolumes?: KeptVolume[];
  /** Nothing but kept pods or volumes is left: so long after the last batch they are asked for again, in milliseconds. */
  againInMs?: number;
  /** The first of the pods, `namespace/name`. */
  names?: string[];
  volumesDetachedAt?: string;
  timedOut?: boolean;
  /** Evidence was voided after the release began: nothing is switched on by itself any more (P2). */
  voidedAt?: string;
}

/** What was let go because its storages were revoked: whoever opens them again must know that no process of that boot is left (P1). */
export interface StorageRelease extends Pick<Released, 'at' | 'pods' | 'evidence' | 'left' | 'batch' | 'names' | 'kept' | 'againInMs'> {
  storages: string[];
  /** The node's boot ID at that time: on this boot it is not healthy, and no port of it is opened. */
  bootID?: string;
}

export interface Timeline {
  failedAt?: string;
  noticedAt?: string;
  isolatedAt?: string;
  poweredOffAt?: string;
  releasedAt?: string;
  volumesDetachedAt?: string;
  poweredOnAt?: string;
  readyAt?: string;
  finalAt?: string;
}

export interface FenceCondition {
  type: 'Isolated' | 'PoweredOff' | 'WorkloadReleased' | 'Recovered' | 'Held' | 'Stopped' | 'ConfigurationValid' | 'LeftOff';
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
  lastTransitionTime: string;
}

export interface HistoryEntry {
  incident: number;
  outcome: Outcome;
  from: string;
  to: string;
  summary: string;
}

export interface NodeFenceStatus {
  /** uid of the NodeFence that this was written for: in another object it is a backup. Absent: written before this was recorded. */
  fenceUID?: string;
  state: FenceState;
  step: Step;
  /** Fallback level of the step that is being tried; 1 at first. */
  level: number;
  incident: number;
  epoch: number;
  frozen?: Frozen;
  /**
   * What this incident ends in; absent: the node is brought back. `off`: asked for by `spec.ending`. `deleted`: the Machine or the Node is being deleted, so
   * that nothing is ever switched on again, whoever leads then.
   */
  ending?: 'off' | 'deleted';
  /** As `spec.lastStep` asks: nothing is switched off while nothing but the request speaks against the node. */
  lastStep?: 'isolation';
  retries: number;
  restarts: number;
  outcome?: Outcome;
  trigger?: Trigger;
  jobs: string[];
  journal: JournalEntry[];
  evidence: Evidence[];
  hold?: Hold;
  /** Its slot of max-concurrent went to others while its machine was kept for a look, or only isolated: it asks for one before it isolates or switches anything more. */
  slotGivenAway?: boolean;
  restore?: Restore;
  released?: Released;
  storageRelease?: StorageRelease;
  timeline: Timeline;
  conditions: FenceCondition[];
  history: HistoryEntry[];
  /** One sentence for people: what happens next, or what they must do. */
  message?: string;
}

export const FENCE_NAME_PREFIX = 'node-fence-';
export function fenceName(node: string): string {
  return FENCE_NAME_PREFIX + node;
}

/** It is its node's fence; whatever else names that node is none, and nobody acts on it. */
export function isNamedAsItsNode({ metadata, spec }: { metadata: { name: string }; spec: { node: string } }): boolean {
  return metadata.name === fenceName(spec.node);
}

/** Annotation of a Node: the fence that cordoned it; without it a cordon is somebody else's (P8). */
export const CORDON_MARK = 'nodefence.ha.k8s.io/cordoned-by';

/** The cluster autoscaler takes no node away that carries it. */
export const SCALE_DOWN_DISABLED = 'cluster-autoscaler.kubernetes.io/scale-down-disabled';

/** Annotation that says which fence keeps the cluster autoscaler away; without it `scale-down-disabled` is somebody else's (P8). */
export const AUTOSCALER_MARK = 'nodefence.ha.k8s.io/scale-down-disabled-by';

export const LIMITS = { journal: 64, restarted: 16, message: 512, evidence: 16, history: 32, podNames: 16, besides: 12, conditions: 16 } as const;

/** Nothing of it reached the device, or the device was read on after its deadline was waited out. */
export const NEVER_BEGAN: ReadonlySet<JournalEntry['result']> = new Set(['not-sent', 'stopped', 'found-not-done']);

/** Cuts a text to what the schema admits, so that a device's long answer can never make a status write fail. */
export function bounded(text: string, limit: number = LIMITS.message): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}
