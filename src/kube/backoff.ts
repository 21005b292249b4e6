import type { Random } from '../ports/random.ts';

export interface BackoffLimits {
  baseMs: number;
  maxMs: number;
}

/** Exponential back-off with full jitter: uniform in [0, min(max, base · 2^failures)). Spreads clients that failed at the same moment. */
export function fullJitter(limits: BackoffLimits, failures: number, random: Random): number {
  return random.next() * exponential(limits, failures);
}

/** Exponential back-off between half and the whole of the step, for work that must not come back at once. */
export function equalJitter(limits: BackoffLimits, failures: number, random: Random): number {
  const stepMs = exponential(limits, failures);
  return stepMs / 2 + (random.next() * stepMs) / 2;
}

function exponential(limits: BackoffLimits, failures: number): number {
  return Math.min(limits.maxMs, limits.baseMs * 2 ** Math.min(30, Math.max(0, failures)));
}
