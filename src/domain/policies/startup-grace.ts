import type { StormPolicy } from './policy.ts';
import { forAll, lasting, stormPolicy } from './scope.ts';
import type { CommonSettings } from './scope.ts';

export interface StartupGraceSettings extends CommonSettings {
  durationMs: number;
}

export const DEFAULT_STARTUP_GRACE_MS = 300_000;

/**
 * A cluster that just came up is not judged. New fences only, and only where no leader was seen in the minute before: a take-over is not a start. Nobody
 * who asked for a fence waits: a person or a remediation object knows more than a start. A remedy knows no more than a condition.
 */
export function startupGrace(settings: StartupGraceSettings): StormPolicy {
  const policy = stormPolicy('startup-grace', settings, ({ nowMs, controller }) => {
    const untilMs = controller.startedAtMs + settings.durationMs;
    if (controller.tookOver || nowMs >= untilMs) return forAll(undefined);
    const message = `this controller has just started, and nobody led before it: no new fence for ${lasting(settings.durationMs)}`;
    return ({ fence }) => {
      const isNew = fence === undefined || ((fence.state === 'new' || fence.state === 'final') && !fence.holdsSlot);
      return isNew && (fence?.isRequested !== true || fence.isRemedy === true) ? { reason: 'startup-grace', message, untilMs } : undefined;
    };
  });
  return { ...policy, startupMs: settings.durationMs };
}
