import type { PlanMethod } from '../domain/plan.ts';
import type { DeviceState, Identity, Parameters, Reading } from './agents.ts';

/** One read of one plug, that nothing waits for. */
export interface ProbeRequest {
  method: PlanMethod;
  /** See Target. */
  switched?: readonly PlanMethod[];
  identity: Identity;
  deadlineMs: number;
  signal: AbortSignal;
  /** Rejects with `AgentError` kind Misconfigured when they cannot be had. */
  parametersOf(method: PlanMethod): Promise<Parameters>;
}

/** A read for the connection and the login alone. */
export interface WarmRequest extends ProbeRequest {
  /** The call that it is for may come at any moment: nothing is begun that this one would break off, and have to begin anew. */
  isUrgent?: true;
}

/** What the device said, or why it could not be asked. */
export interface ProbeAnswer {
  /** Absent: it could not be read, see `error`. A witness that contradicts makes it `unknown`. */
  state?: DeviceState;
  identity?: Reading['identity'];
  /** The device's own words. */
  detail?: string;
  error?: string;
  latencyMs: number;
  /** RFC 3339, where the device showed them. */
  certificateExpiresAt?: string;
  credentialExpiresAt?: string;
  /** Why it would refuse a set, such as a permission that is missing. Absent: it does not tell, or would not. */
  wouldRefuse?: string;
  /** See Reading. */
  overlooked?: string;
}

/** What a device shows to somebody who does not log in. */
export type ShownTrust =
  /** The method does not trust its device by what was first seen of it. */
  | { kind: 'not-asked' }
  /** The device is busy, or somebody wanted it meanwhile. */
  | { kind: 'busy' }
  | { kind: 'shown'; shown: string; accepted: readonly string[] }
  | { kind: 'failed'; answer: ProbeAnswer };

/** Reads devices over the queues of the fences. */
export interface Prober {
  /**
   * One read, never a change. `undefined`: the device is busy, or somebody wanted it meanwhile and the read gave way, or the API server kept us from asking;
   * nothing is known then.
   */
  probe(request: ProbeRequest): Promise<ProbeAnswer | undefined>;
  /**
   * One read for the connection and the login that it leaves open, where the agent keeps them; never rejects, gives way as a probe does. What it shows is
   * evidence of nothing. Absent: nobody does.
   */
  warm?(request: WarmRequest): Promise<void>;
  /** Absent: nobody looks, and so nothing is recorded. */
  trustShown?(request: ProbeRequest): Promise<ShownTrust>;
}
