/** Safety margin between the end of our right to act and the end of the lease. */
export const MARGIN_MS = 1000;

export interface LeaderDurations {
  durationMs: number;
  renewDeadlineMs: number;
  retryMs: number;
}

/** 15 s, 10 s and 2 s where nothing is given. Throws where two attempts do not fit before the renew deadline, or that not into the lease. */
export function leaderDurations(given: Partial<LeaderDurations>): LeaderDurations {
  const { durationMs = 15_000, renewDeadlineMs = 10_000, retryMs = 2_000 } = given;
  if (!(durationMs - MARGIN_MS >= renewDeadlineMs && renewDeadlineMs > 1.2 * retryMs && retryMs > 0)) {
    const words = `${String(durationMs)} ms, ${String(renewDeadlineMs)} ms, ${String(retryMs)} ms`;
    throw new Error(`leader election: lease − 1 s ≥ renew deadline > 1.2 · retry must hold, not ${words}`);
  }
  return { durationMs, renewDeadlineMs, retryMs };
}
