import { backOffMs } from '../domain/back-off.ts';
import type { Random } from '../ports/random.ts';

export interface BackoffLimits {
  baseMs: number;
  maxMs: number;
}

/** Exponential back-off with full jitter: uniform in [0, min(max, base · 2^failures)). Spreads clients that failed at the same moment. */
export function fullJitter(limits: BackoffLimits, failures: number, random: Random): number {
  return random.next() * stepOf(limits, failures);
}

/** Exponential back-off between half and the whole of the step, for work that must not come back at once. */
export function equalJitter(limits: BackoffLimits, failures: number, random: Random): number {
  const stepMs = stepOf(limits, failures);
  return stepMs / 2 + (random.next() * stepMs) / 2;
}

/** `failures`: before this one. */
function stepOf({ baseMs, maxMs }: BackoffLimits, failures: number): number {
  return backOffMs(failures + 1, baseMs, maxMs);
}
