import type { AgentError } from '../../src/ports/agents.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Call, CallTarget } from '../shared/call.ts';

/** What Chassis Control may be asked for. `soft`, `cycle` and `reset` give no evidence and are never sent. */
export type Control = 'on' | 'off' | 'diag';

/** No answer. `ended`: the call was over first; `lost`: the line is of no use any more. `isSent`: the BMC may have got the request. */
export type NoAnswer = { kind: 'ended'; isSent: boolean } | { kind: 'lost'; why: string; isSent: boolean };

/** `unknown` is everything that is not exactly a known token, an error of the BMC too. */
export interface StatusAnswer {
  kind: 'state';
  state: 'on' | 'off' | 'unknown';
  detail: string;
  /** What was said is no answer to this request: what comes next could be the rest of it. */
  isOdd?: boolean;
  /** Not a bit of it is set: so a machine that is off may look, and one whose BMC has just started and read nothing yet. */
  isBlank?: boolean;
}

/** `none`: the BMC says that it has no GUID to show. */
export type GuidAnswer = { kind: 'guid'; hexadecimal: string; detail: string } | { kind: 'none'; detail: string };

/** `refused`: the BMC says that it did not and will not do it. `unclear`: it may have been done. */
export interface ControlAnswer {
  kind: 'accepted' | 'refused' | 'unclear';
  detail: string;
}

/** Any command's answer: the completion code (IPMI 2.0 table 5-2) and what follows it. */
export interface RawAnswer {
  kind: 'raw';
  completion: number;
  data: Buffer;
}

/** An open session with one BMC, by whichever transport. One request at a time; a line that surprises is dropped, not asked again. */
export interface Line {
  readonly isUsable: boolean;
  /** How long a GUID read over this line stands for a set; 0: it is read anew right before each. */
  readonly identityKeepsMs: number;
  status(call: Call<CallTarget>): Promise<StatusAnswer | NoAnswer>;
  /** The GUID of the machine; `allowsOwn`: else the BMC's own. */
  guid(call: Call<CallTarget>, allowsOwn: boolean): Promise<GuidAnswer | NoAnswer>;
  /** `beforeSend` is called in the same synchronous turn as the write; when it throws, nothing was written and the line stays. */
  control(control: Control, call: Call<CallTarget>, beforeSend: () => void): Promise<ControlAnswer | NoAnswer>;
  /** A command that changes nothing. */
  raw(netFn: number, command: number, data: readonly number[], call: Call<CallTarget>): Promise<RawAnswer | NoAnswer>;
  /** Ends it at once, for the caller; what is still to be said to the BMC goes on in the background until `gone`. */
  kill(): void;
  /** Ends it as the BMC wants it. Resolves when nothing of it is left; true: the BMC ended this very session, and so has not restarted since it began. */
  end(clock: Clock): Promise<boolean>;
}

/** This transport and this BMC do not understand each other; thrown while a line is opened, so that nothing was sent that changes anything. */
export class TransportUnfit extends Error {
  override readonly name = 'TransportUnfit';
  readonly failure: AgentError;
  constructor(failure: AgentError) {
    super(failure.message);
    this.failure = failure;
  }
}
