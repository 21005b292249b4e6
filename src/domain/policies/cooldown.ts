import type { StormPolicy } from './policy.ts';
import { forAll, lasting, stormPolicy } from './scope.ts';
import type { CommonSettings } from './scope.ts';

export interface CooldownSettings extends CommonSettings {
  durationMs: number;
}

/** When a switch comes back its nodes come back one by one: the last of them is not the one that failed. More than a node grace. */
export const DEFAULT_COOLDOWN_MS = 60_000;

/** What a storm left behind settles first. */
export function cooldown(settings: CooldownSettings): StormPolicy {
  return stormPolicy('cooldown', settings, ({ nowMs, stormEndedAtMs }) => {
    if (stormEndedAtMs === undefined) return forAll(undefined);
    const untilMs = stormEndedAtMs + settings.durationMs;
    if (nowMs >= untilMs) return forAll(undefined);
    const message = `a storm has just ended: nothing is fenced for ${lasting(settings.durationMs)} after it`;
    // What was switched off before is finished: its workload waits, and nobody is judged anew.
    return ({ fence }) => (fence?.isSwitchedOff === true ? undefined : { reason: 'cooldown', message, untilMs });
  });
}
