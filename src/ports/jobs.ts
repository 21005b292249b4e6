import type { JobResult, JournalEntry } from '../domain/node-fence.ts';
import type { PlanMethod, Timing } from '../domain/plan.ts';
import type { JobReport } from '../domain/snapshot.ts';
import { AgentError } from './agents.ts';
import type { AgentErrorKind, DeviceState, FailureDiagnostic, Identity, Parameters, Reading } from './agents.ts';
import { ApiStatusError, TransportError } from './api-transport.ts';
import type { Node } from './objects.ts';
import type { ProbeRequest } from './probes.ts';

/** One run of a method, whose intent is written and acknowledged. */
export interface Job {
  entry: JournalEntry;
  method: PlanMethod;
  /** Methods of the same level that must read off together with this one. */
  together: readonly PlanMethod[];
  /** Every off of the level before this one is done: with `together` it proves that nothing feeds the machine. */
  lastOff: boolean;
  /** Storages that are proven to be revoked once this fabric method and `together` read closed. Absent: none. */
  revokes?: readonly string[];
  /** `<uid of the NodeFence>/<number of the incident>`; absent: no fence asks. */
  incident?: string;
  /** The method's device restarted after an off of this fence, and no off of it has been proven since. Absent: none has. */
  restartedSince?(method: PlanMethod): boolean;
  /** An off of this fence has reached the method's plug before, and holds it: what stays off needs no second one. Absent: none has. */
  offWasSent?(method: PlanMethod): boolean;
  /** Monotonic time of the last sign of life that speaks against what this run is to prove (P2). Absent: it proves nothing, or nobody listens. */
  lastSignMs?(): number;
  timing: Timing;
  identity: Identity;
  /** Whether the plan insists on devices that show the machine's identity; see `demandsIdentity`. */
  identityRequired: boolean;
  signal: AbortSignal;
  /** Monotonic time until which all of it may be waited for, calls and reads together; a boot of the device that has to be waited out comes on top. Absent: `timing` alone. */
  untilMs?: number;
  /** Monotonic time before the intent was written: a set must end within `entry.deadlineMs` of it, for a successor waits no longer. */
  intentAtMs: number;
  parametersOf(method: PlanMethod): Promise<Parameters>;
  /** See `Target.standing`. */
  standing?: Promise<Node | undefined>;
  /**
   * What the device showed of this machine to a read that was begun at most a second ago, or is under way: an off need not read it once more before it is sent.
   * Rejects with the device's own failure. Undefined, or with undefined: nobody has asked, or it is too old.
   */
  firstRead?(identity: Identity): Promise<Reading | undefined> | undefined;
  /** Throws `AgentError` kind NotSent when the lease, a stop or a hold forbids a set that takes `deadlineMs` to begin now. Synchronous. */
  mayBegin(deadlineMs: number): void;
  /**
   * Asks the API server whether this run may change anything: right before its one changing call, for the reads before it may have taken long. Rejects where
   * it may not; nothing is sent then.
   */
  ask(): Promise<void>;
  /** Told the monotonic time of each set, in the turn of its send. */
  onSet(atMs: number): void;
  /**
   * The last set has ended. `isCertain`: the device answered it, so that nothing of ours is on its way any more; otherwise it may still arrive.
   * `isSent`: false where the answer is that nothing was sent at all.
   */
  onAnswered(isCertain: boolean, isSent?: boolean): void;
}

/** Runs agents; implemented by dispatch, wrapped by the simulation. */
export interface Runner {
  /** Carries out the run that `job.entry` announces. Rejects only when `job.signal` is aborted; every failure is a report. */
  run(job: Job): Promise<JobReport>;
  /** Reads what became of a run that a crash left open. */
  recover(job: Job): Promise<JobReport>;
  /** One read of the job's method, in words; `unknown` too when the device cannot be read. Rejects when `job.signal` is aborted, and with the API server's failure when that kept it from asking. */
  readState(job: Job): Promise<{ state: DeviceState; detail: string }>;
  /**
   * One read of a device that an off is about to begin with (`Job.firstRead`), in its turn as any call of a fence. Undefined: its agent keeps no session over which
   * the off would be sent, or may leave out the off of what reads off. Rejects with the device's own failure. Absent: nobody reads ahead.
   */
  look?(request: ProbeRequest): Promise<Reading | undefined>;
  /** Does a run of this method begin with a read of the Node? Absent: none does. */
  editsNode?(method: PlanMethod): boolean;
  /** What the job's device recorded of the machine, at most so long; empty where it has nothing. Changes nothing. Absent: nobody asks. */
  failureDiagnostics?(job: Job, deadlineMs: number): Promise<readonly FailureDiagnostic[]>;
}

const RESULT_OF: Readonly<Record<AgentErrorKind, JobResult>> = {
  Refused: 'refused',
  Unreachable: 'unreachable',
  Timeout: 'timeout',
  Misconfigured: 'misconfigured',
  NotSent: 'not-sent',
};

/** HTTP statuses of an API server that mean no, however often one asks. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 415, 422]);

/** What a thrown failure comes to. The API server being away, busy or of another version is no failure of the step: it is done again. */
export function failureOf(error: unknown): Pick<JobReport, 'result' | 'message' | 'isDenied'> {
  const denied = isDenial(error) || (error instanceof AgentError && isDenial(error.cause)) ? { isDenied: true } : {};
  return { ...resultOf(error), ...denied };
}

/** An API server that does not know who asks, or what they may: also one that comes up, before its authentication and RBAC are there. */
function isDenial(error: unknown): boolean {
  return error instanceof ApiStatusError && (error.status === 401 || error.status === 403);
}

function resultOf(error: unknown): Pick<JobReport, 'result' | 'message'> {
  if (error instanceof AgentError) return { result: RESULT_OF[error.kind], message: error.message };
  if (error instanceof TransportError) return { result: 'interrupted', message: `API server: ${error.message}` };
  if (error instanceof ApiStatusError)
    return { result: FINAL_STATUSES.has(error.status) ? 'failed' : 'interrupted', message: `API server: ${error.message}` };
  return { result: 'failed', message: String(error) };
}
