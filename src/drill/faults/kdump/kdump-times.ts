/** Milliseconds of a dump that is played, and of what waits for it. */
export const DUMP = {
  /** Until the crash kernel sends its first message. */
  bootMs: 3_000,
  takesMs: 25_000,
  startMs: 25_000,
  finishedMs: 20_000,
  maxMs: 50_000,
  /** From the panic to the off where nobody waits. */
  plainMs: 20_000,
} as const;

/** Keys of `fence-cluster-config`. */
export const DUMP_SETTINGS = {
  kdump_enabled: 'yes',
  kdump_start_timeout: `${DUMP.startMs / 1_000}s`,
  kdump_finished_timeout: `${DUMP.finishedMs / 1_000}s`,
  kdump_max_duration: `${DUMP.maxMs / 1_000}s`,
} as const;
