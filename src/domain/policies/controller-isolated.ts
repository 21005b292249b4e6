import type { StormPolicy, StormReason } from './policy.ts';
import { forAll, lasting, named, stormPolicy } from './scope.ts';
import type { CommonSettings, Ruling } from './scope.ts';
import type { StormView } from './view.ts';

/** As many targets may one policy name. */
export const TARGETS_MAX = 64;

export interface IsolationSettings {
  /** What must be reachable, as the shell names it in `view.controller.targets`; empty: whatever the shell asks by itself. */
  targets: readonly string[];
  /** How many of them at least; absent: half of them, rounded up. More than there are: all. */
  minReachable?: number;
  /** Nobody is judged by what is older. */
  staleAfterMs: number;
  /** One full grace of what is known without a gap: a node that only we did not hear has had its chance to be heard. */
  graceMs: number;
}

/** `staleAfterMs`: as long as a quiet watch may last between two bookmarks of the API server, and half of that. */
export const DEFAULT_ISOLATION: IsolationSettings = { targets: [], staleAfterMs: 90_000, graceMs: 40_000 };

/** Why this controller may be the one that is cut off; undefined: it is not. */
export interface Isolation {
  reason: StormReason;
  message: string;
  untilMs?: number;
}

export function isolationOf(
  { targets, minReachable, staleAfterMs, graceMs }: IsolationSettings,
  { nowMs, controller }: StormView,
): Isolation | undefined {
  const ageMs = nowMs - controller.freshAtMs;
  if (ageMs > staleAfterMs) {
    const message = `the API server has sent nothing for more than ${lasting(staleAfterMs)}: no node is judged by it; ends once Nodes and Leases were watched for ${lasting(graceMs)}`;
    return { reason: 'stale-view', message };
  }
  const asked = targets.length > 0 ? targets : [...controller.targets.keys()];
  const reached = asked.filter((target) => controller.targets.get(target) === true);
  const demanded = Math.min(minReachable ?? Math.ceil(asked.length / 2), asked.length);
  if (reached.length < demanded) {
    const missing = asked.filter((target) => !reached.includes(target));
    const message = `this controller reaches ${reached.length} of ${asked.length} targets, ${demanded} are required (not ${named(missing)}): it may be cut off itself; ends when it reaches ${demanded}`;
    return { reason: 'targets-unreachable', message };
  }
  const knownForMs = nowMs - controller.freshSinceMs;
  if (knownForMs >= graceMs) return undefined;
  const message = `Nodes and Leases were not watched without a gap for one grace period of ${lasting(graceMs)}: no node is judged before that`;
  return { reason: 'reconnected', message, untilMs: controller.freshSinceMs + graceMs };
}

/** One grace is for nodes that are judged by what is heard of them: of a machine that was switched off the device tells, and a consistent read before its release. */
export function unlessSwitchedOff(isolation: Isolation | undefined): Ruling {
  return isolation?.reason === 'reconnected' ? ({ fence }) => (fence?.isSwitchedOff === true ? undefined : isolation) : forAll(isolation);
}

/** A controller that is cut off itself, or has just come back, judges nobody. */
export function controllerIsolated(settings: CommonSettings & IsolationSettings): StormPolicy {
  const policy = stormPolicy('controller-isolated', settings, (view) => unlessSwitchedOff(isolationOf(settings, view)));
  return { ...policy, targets: settings.targets, nodeGraceMs: settings.graceMs };
}
