/** When a node has lost the storage that its admin named (docs/node-daemon.md). Pure; times are on the node's own running clock, in milliseconds. */

export interface StorageLossTimes {
  /** How long probes must have found it lost. */
  timeoutMs: number;
  /** Two probes that are further apart belong to no run: whoever probes stood still meanwhile, and knows nothing of that time. */
  gapMaxMs: number;
}

/** What probes have found of one target so far. */
export interface StorageRun {
  /** A target that never answered this process may be a wrong name, or not be reachable from its sandbox: it cannot be lost. */
  hasAnswered: boolean;
  /** The probes that found it lost, one after the other, up to the last one. */
  lost?: { sinceMs: number; lastMs: number; probes: number };
}

/** Fewer are an accident. */
export const LOST_PROBES_MIN = 3;

export const NEVER_PROBED: StorageRun = { hasAnswered: false };

export function afterProbe(run: StorageRun, reach: 'reachable' | 'lost' | 'unknown', nowMs: number, { gapMaxMs }: StorageLossTimes): StorageRun {
  if (reach === 'reachable') return { hasAnswered: true };
  // What could not be probed is not lost, and what was lost before it may have answered meanwhile.
  if (reach === 'unknown' || !run.hasAnswered) return { hasAnswered: run.hasAnswered };
  const { lost } = run;
  if (lost === undefined || nowMs - lost.lastMs > gapMaxMs) return { hasAnswered: true, lost: { sinceMs: nowMs, lastMs: nowMs, probes: 1 } };
  return { hasAnswered: true, lost: { sinceMs: lost.sinceMs, lastMs: nowMs, probes: lost.probes + 1 } };
}

/** Told by probes only: time alone loses nothing. */
export function isLost({ lost }: StorageRun, { timeoutMs }: StorageLossTimes): boolean {
  return lost !== undefined && lost.probes >= LOST_PROBES_MIN && lost.lastMs - lost.sinceMs >= timeoutMs;
}
