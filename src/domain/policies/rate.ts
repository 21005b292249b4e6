import { holdsSlot } from './node-set.ts';
import type { StormPolicy } from './policy.ts';
import { forAll, lasting, stormPolicy } from './scope.ts';
import type { CommonSettings } from './scope.ts';

export interface RateSettings extends CommonSettings {
  /** Fences that may begin in any window. */
  max: number;
  windowMs: number;
}

export const DEFAULT_RATE = { max: 5, windowMs: 600_000 } as const;

/** So many begin in a sliding window and no more. What has begun goes on. */
export function rate(settings: RateSettings): StormPolicy {
  const { max, windowMs, scope } = settings;
  return stormPolicy('rate', settings, (view) => {
    const counts = (name: string): boolean => {
      const node = view.nodes.get(name);
      // Of a node that is gone nobody knows the labels: it counts.
      return scope === undefined || node === undefined || scope(node.labels);
    };
    const lately = view.starts.filter(({ node, atMs }) => view.nowMs - atMs < windowMs && counts(node)).map(({ atMs }) => atMs);
    if (lately.length < max) return forAll(undefined);
    const leaving = lately.toSorted((one, other) => one - other)[lately.length - max];
    const untilMs = leaving === undefined ? undefined : leaving + windowMs;
    const end = untilMs === undefined ? ': ends when max is raised' : '';
    const message = `${lately.length} fences began in the last ${lasting(windowMs)}, ${max} may${end}`;
    const hold = { reason: 'rate' as const, message, ...(untilMs !== undefined && { untilMs }) };
    return (node) => (holdsSlot(node) ? undefined : hold);
  });
}
