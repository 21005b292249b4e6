/** How a node that is cut off takes itself down (docs/node-daemon.md). Pure; every time is on the node's own running clock, in milliseconds. */

export interface SelfFenceTimes {
  /** How long the node waits, cut off, before it stops its pods. */
  isolationTimeoutMs: number;
  /** How long stopping the pods may take; then the machine goes down with them. */
  podStopMaxMs: number;
}

/**
 * - `waiting`: nobody has kept this boot up yet, so nothing can be lost. The watchdog is not opened.
 * - `kept`: a controller's grant or the vouches of peers hold.
 * - `isolated`: neither holds; the node waits.
 * - `stopping`: the workload is stopped. No way leads back: the controller may rest on it.
 * - `down`: nothing is fed any more and the machine is reset.
 */
export type SelfFencePhase = 'waiting' | 'kept' | 'isolated' | 'stopping' | 'down';

export const SELF_FENCE_CAUSES = ['cut off', 'storage lost', 'slept'] as const;
export type SelfFenceCause = (typeof SELF_FENCE_CAUSES)[number];

export interface SelfFenceInputs {
  nowMs: number;
  /** End of the last grant or of the last vouches that were enough; undefined: none in this boot. */
  keptUntilMs?: number;
  /** When the storage that the workload writes to was found lost for good, such as its lease taken; undefined: it is not. */
  storageLostAtMs?: number;
  /** When stopping the workload began. */
  stoppingSinceMs?: number;
  /** Why it began, whatever is true since. */
  stoppingCause?: SelfFenceCause;
  /** No process of the workload runs any more. */
  isWorkloadStopped: boolean;
  /** The machine slept although it attested that it cannot: what it does not know of the time meanwhile, others do. */
  hasSleptUnexpectedly?: boolean;
}

export interface SelfFenceDecision {
  phase: SelfFencePhase;
  /** The watchdog may be fed at `nowMs`, and no later than `feedUntilMs`. */
  feedUntilMs: number;
  /** Why the node takes itself down, for the log and for what is kept for after the reset. */
  cause?: SelfFenceCause;
  /** When it must be decided anew at the latest; absent: nothing changes by time alone. */
  nextMs?: number;
}

const NEVER_MS = Number.NEGATIVE_INFINITY;

export function decideSelfFence(inputs: SelfFenceInputs, times: SelfFenceTimes): SelfFenceDecision {
  const { nowMs, keptUntilMs, storageLostAtMs, stoppingSinceMs } = inputs;
  if (keptUntilMs === undefined && stoppingSinceMs === undefined) return { phase: 'waiting', feedUntilMs: NEVER_MS };
  if (inputs.hasSleptUnexpectedly === true) return { phase: 'down', feedUntilMs: NEVER_MS, cause: 'slept' };
  const isolationEndsMs = (keptUntilMs ?? NEVER_MS) + times.isolationTimeoutMs;
  // Counted from the end of the last grant, never from when somebody noticed: the controller counts from there too.
  const latestMs = isolationEndsMs + times.podStopMaxMs;
  const cause = inputs.stoppingCause ?? (storageLostAtMs === undefined ? 'cut off' : 'storage lost');
  if (stoppingSinceMs !== undefined) {
    const endMs = Math.min(stoppingSinceMs + times.podStopMaxMs, keptUntilMs === undefined ? Infinity : latestMs);
    if (inputs.isWorkloadStopped || nowMs >= endMs) return { phase: 'down', feedUntilMs: NEVER_MS, cause };
    return { phase: 'stopping', feedUntilMs: endMs, nextMs: endMs, cause };
  }
  if (nowMs >= latestMs) return { phase: 'down', feedUntilMs: NEVER_MS, cause };
  if (storageLostAtMs !== undefined || nowMs >= isolationEndsMs) {
    const endMs = Math.min(latestMs, nowMs + times.podStopMaxMs);
    return { phase: 'stopping', feedUntilMs: endMs, nextMs: endMs, cause };
  }
  if (nowMs >= (keptUntilMs ?? NEVER_MS)) return { phase: 'isolated', feedUntilMs: latestMs, nextMs: isolationEndsMs };
  return { phase: 'kept', feedUntilMs: latestMs, nextMs: keptUntilMs ?? nowMs };
}
