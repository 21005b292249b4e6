import type { BackoffLimits } from './backoff.ts';

export interface ReflectorTimings {
  /** The server is asked to end each watch after a random time in this range. */
  watchMinMs: number;
  watchMaxMs: number;
  /** A real API server sends a bookmark about every minute. */
  idleMs: number;
  openDeadlineMs: number;
  /** For one page, and for the next object of a list that comes as a watch. */
  listDeadlineMs: number;
  backoff: BackoffLimits;
  /** A watch that stood this long is stable: the back-off begins anew. */
  stableMs: number;
  /** So many refusals in a row, or watches that end at once and bring nothing, and the version that we ask for is given up too. */
  refusalsBeforeRelist: number;
}

export const REFLECTOR_TIMINGS: ReflectorTimings = {
  watchMinMs: 300_000,
  watchMaxMs: 600_000,
  idleMs: 75_000,
  openDeadlineMs: 15_000,
  listDeadlineMs: 30_000,
  backoff: { baseMs: 500, maxMs: 15_000 },
  stableMs: 10_000,
  refusalsBeforeRelist: 5,
};
