/** Time as the core sees it. Durations are measured on `monotonicMs` only; `wallMs` is for records people read. */
export interface Clock {
  /** CLOCK_MONOTONIC in milliseconds; never falls, stands still while the machine is suspended. */
  monotonicMs(): number;
  /** Boot-time clock in milliseconds; runs on during suspend. Compared with `monotonicMs` to notice a suspended process. */
  bootMs(): number;
  /** Milliseconds since 1970; may jump either way. Never compared with another machine's. */
  wallMs(): number;
  /** Runs `callback` once after `delayMs`; the returned function cancels it and may be called any number of times. */
  after(delayMs: number, callback: () => void): () => void;
  /** Resolves after `delayMs`; rejects with `signal.reason` when aborted first. Removes its listener either way. */
  sleep(delayMs: number, signal?: AbortSignal): Promise<void>;
}

/** RFC 3339 with milliseconds, as written to status fields. */
export function timestamp(clock: Clock): string {
  return new Date(clock.wallMs()).toISOString();
}

/** `MicroTime` of the API: RFC 3339 with exactly six digits, as Leases carry it. */
export function microTimestamp(clock: Clock): string {
  return new Date(clock.wallMs()).toISOString().replace('Z', '000Z');
}
