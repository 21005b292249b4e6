import type { Evidence, Hold, JobResult, NodeFenceSpec, NodeFenceStatus, Released, StorageRelease } from './node-fence.ts';
import type { FenceRecord } from './incident-record.ts';
import type { DumpFacts } from './kdump/dump.ts';
import type { Plan } from './plan.ts';

/** What the preservation of a node's machine says of its fence (docs/preservation.md); absent: it is not preserved. */
export type PreservationGuard =
  /** Healthy, preserved by `now`: nobody fences it. Or failed: isolated, then held before power-management. */
  | { kind: 'never-fence' | 'isolate-and-hold'; cause: 'user' | 'automatic'; until?: string }
  /** `drop`: Machine or Node is being deleted. `unknown`: nobody can tell yet; whoever says so bounds it. */
  | { kind: 'drop' | 'unknown' };

/** Everything that one decision may look at: immutable, taken by the shell in one synchronous turn. */
export interface Snapshot {
  /** Monotonic, milliseconds. */
  nowMs: number;
  /** RFC 3339, for records only. */
  wall: string;
  node: NodeFacts | undefined;
  fence: FenceFacts | undefined;
  since: Since;
  /** Reasons not to isolate, switch off or release now; the first one is recorded. */
  holds: readonly ActiveHold[];
  /** What is to become of its machine besides: preserved, or being deleted. Absent: nothing is known against fencing it. */
  preservation?: PreservationGuard;
  /** What is heard of its crash kernel. Absent: nobody listens. */
  dump?: DumpFacts;
  /** A person's stop that stands on this node. */
  stop: { by: string; reason: string } | undefined;
  /** Journal ids of runs under way in this process. */
  inFlight: ReadonlySet<string>;
  /** Finished runs of this process whose result does not stand in the journal yet. */
  reports: readonly JobReport[];
  /** As configured now; frozen when a fence begins or restarts. */
  plan: Plan;
  /** The same, of the methods that are asked for. Absent: none are, or that plan is frozen already. */
  askedPlan?: Plan;
  /** Recorded while the node was healthy. */
  identity: { systemUUID?: string; providerID?: string; addresses?: string[] } | undefined;
  /** What its report keeps of earlier fences; absent: nothing is known. */
  record?: FenceRecord;
  /** Number of the node's last incident. */
  lastIncident: number;
  /** A person's word that waits to be weighed and fits this fence, its incident and this boot. */
  acknowledgement: { name: string; uid: string } | undefined;
  /** `isUnsure`: the watches that show it hang, and it is as it was. */
  workload: { pods: number; terminating: number; volumeAttachments: number; isUnsure?: true };
  /** Names of pods that wait for a release, a few of them; read while something holds. */
  waitingPods?: readonly string[];
  /** Of the present leadership. */
  epoch: number;
  /** A device that a predecessor may be calling is not touched before this. */
  actsFromMs: number;
  /** For the ids of new journal entries; one fresh value for each decision. */
  uuid: string;
}

/** A reason not to act that stands now. */
export interface ActiveHold extends Pick<Hold, 'reason' | 'policy' | 'message'> {
  /** Absent: `alarm_after` of the plan. */
  alarmAfterMs?: number;
  /** It is what was asked for: nobody is alarmed, however long it stands. */
  isMeant?: true;
  /** When time alone ends it, monotonic. Absent: only a change does, or nobody knows. */
  untilMs?: number;
}

export interface NodeFacts {
  name: string;
  uid: string;
  ready: 'True' | 'False' | 'Unknown' | 'missing';
  readyReason: string;
  /** As the API says; for records only, never for delays. */
  readySince?: string | undefined;
  bootID?: string | undefined;
  systemUUID?: string | undefined;
  providerID?: string | undefined;
  /** Internal ones; absent: none is known. */
  addresses?: string[] | undefined;
  /** Fast detection takes it for failed: when its daemon was last heard, and why. Absent: it does not. */
  silence?: { since: string; message: string } | undefined;
  /** Its daemon puts this key back on so many shared devices, in a new boot, when it is permitted to. Absent: it does not. */
  unfences?: { key: string; devices: number } | undefined;
  /** Monotonic time at which a lease renewal or heartbeat of this node was last *received* here. */
  lifeAtMs: number;
  /** None was: that is when this process saw the node first. */
  isOnlySeen?: boolean;
  /** The same of a heartbeat of its daemon: a sign of life after an off, and no sign that its kubelet lives. Absent: none was. */
  heardAtMs?: number | undefined;
  /** Monotonic time since which such signs could be heard at all: a silence is counted from here at the earliest. */
  freshSinceMs?: number;
}

export interface FenceFacts {
  uid: string;
  spec: NodeFenceSpec;
  /** Its own; of one that was restored from a backup there is none. */
  status: NodeFenceStatus | undefined;
  /** It was restored from a backup, and this is what that says; see restored.ts. */
  restored?: { status: NodeFenceStatus | undefined };
  deleting: boolean;
  finalized: boolean;
}

/** Monotonic times of first sight by this process; a take-over lengthens them, never shortens. Absent: it does not stand now. */
export interface Since {
  /** The trigger stands without a break. */
  triggered?: number;
  /** The same by the node's own conditions, whatever was asked for. */
  failing?: number;
  /** Ready=False stands without a break. */
  notReady?: number;
  /** Every sign of health but the delay stands. */
  healthy?: number;
  /** Present state, step, level, restart and incident. */
  position?: number;
  /** The last change of the journal. */
  journal?: number;
  /** The last change of the journal outside recovery: health is asked for after it. */
  action?: number;
  /** The machine was last read back off, as far as the journal says. */
  off?: number;
  /** Last off that this process sent for the node; a take-over counts from its first sight of the journal. */
  set?: number;
  /** Last read of the proof that a release rests on, when this process took it; absent after a take-over: then the device is read again first. */
  evidence?: number;
  /** The same of the oldest proof of its grade that stands. */
  firstEvidence?: number;
  /** The release. */
  released?: number;
  /** The last batch of the release. */
  batch?: number;
  /** The hold on record. */
  held?: number;
  /** Holds of which a person may not know stand without a break, one after the other. */
  waiting?: number;
  /** That it waits for too long was told. */
  alarmed?: number;
}

/** What a run came to, from the shell to the decision. */
export interface JobReport {
  id: string;
  result: JobResult;
  message: string;
  finishedAt: string;
  /** An API server denied it: 401 or 403. Weighed before it comes to the journal. */
  isDenied?: boolean;
  evidence?: Omit<Evidence, 'source'>;
  /** Monotonic time of the last read that the evidence rests on. */
  evidenceAtMs?: number;
  released?: Released;
  storageRelease?: StorageRelease;
  /** A transition was seen at the device: what we must undo one day. */
  edge?: 'off' | 'closed' | 'on' | 'open';
  /** See JournalEntry. */
  edgeUnseen?: boolean;
  /** See JournalEntry. */
  offSent?: boolean;
  /** See JournalEntry. */
  restarted?: string[];
  /** Our taint was found on the Node, and kept this run from anything: from now on it is on record, to be taken back. */
  taintFound?: { key: string; value: string; effect: string };
}
