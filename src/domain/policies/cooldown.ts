import type { StormPolicy } from './policy.ts';
import { forAll, lasting, stormPolicy } from './scope.ts';
import type { CommonSettings } from './scope.ts';

export interface CooldownSettings extends CommonSettings {
  durationMs: number;
}

export const DEFAULT_COOLDOWN_MS = 300_000;

/** What a storm left behind settles first. */
export function cooldown(settings: CooldownSettings): StormPolicy {
  return stormPolicy('cooldown', settings, ({ nowMs, stormEndedAtMs }) => {
    if (stormEndedAtMs === undefined) return forAll(undefined);
    const untilMs = stormEndedAtMs + settings.durationMs;
    if (nowMs >= untilMs) return forAll(undefined);
    const message = `a storm ended ${lasting(nowMs - stormEndedAtMs)} ago: nothing is fenced for ${lasting(settings.durationMs)} after it; ends in ${lasting(untilMs - nowMs)}`;
    return forAll({ reason: 'cooldown', message, untilMs });
  });
}
