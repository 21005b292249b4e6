import type { RemedyFacts, RemedyPosition, RemedyRun } from '../position.ts';
import { aThreshold } from './thresholds.ts';

export const RUN_1: RemedyRun = { id: 'e-1-1-1', remedy: 'first', kind: 'fenceMethods', of: 1 };
export const RECOVERY: RemedyRun = { id: 'e-1-recovery-2', remedy: 'recovery', kind: 'fenceMethods', of: 'recovery' };

/** Long in its phase, with nothing in the way. */
export function factsOf(position: Partial<RemedyPosition> | undefined, change: Partial<RemedyFacts> = {}): RemedyFacts {
  const whole: RemedyPosition = {
    threshold: 'KernelDeadlock=True',
    episode: 'e',
    phase: 'waiting',
    attempt: 1,
    rung: 0,
    serial: 0,
    hasActed: false,
    ...position,
  };
  return {
    nowMs: 10_000_000,
    threshold: aThreshold(),
    view: { phase: 'standing' },
    state: position === undefined ? undefined : { position: whole, sinceMs: 0 },
    outcome: 'absent',
    holds: [],
    fence: undefined,
    isBusy: false,
    presence: { kind: 'alive' },
    isCleaned: false,
    newestPod: '2026-11-25T00:00:00Z',
    isResumed: false,
    bootID: 'boot-1',
    uuid: 'u',
    ...change,
  };
}
