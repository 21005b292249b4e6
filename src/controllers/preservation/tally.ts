import type { PreservationMetrics, PreservedCount } from '../../ports/metrics.ts';
import type { PreservationView } from '../../ports/preservation.ts';

/** Names of pools come from labels, which anybody may write. */
const POOLS_MAX = 200;
const NO_POOL = 'none';
const OTHER_POOL = 'other';

interface Sums {
  counts: Map<string, PreservedCount>;
  /** By pool; wall clock. */
  firstExpiryMs: Map<string, number>;
}

/** Shows in the metrics what is preserved now, and when the first of each pool ends. */
export function showTally(metrics: PreservationMetrics, parts: Iterable<readonly PreservationView[]>, nowMs: number): void {
  const pools = new Set<string>();
  const sums: Sums = { counts: new Map(), firstExpiryMs: new Map() };
  for (const views of parts) for (const view of views) if (view.isPreserved) add(sums, view, boundedPool(view.pool, pools));
  metrics.preserved([...sums.counts.values()]);
  metrics.expiry(new Map([...sums.firstExpiryMs].map(([pool, expiryMs]) => [pool, expiryMs - nowMs])));
}

function boundedPool(pool: string | undefined, pools: Set<string>): string {
  if (pool === undefined) return NO_POOL;
  if (pools.size < POOLS_MAX) pools.add(pool);
  return pools.has(pool) ? pool : OTHER_POOL;
}

function add({ counts, firstExpiryMs }: Sums, { cause = 'user', phase, expiryMs }: PreservationView, pool: string): void {
  const bare = phase.split(':')[0] ?? '';
  const key = `${pool} ${cause} ${bare}`;
  const known = counts.get(key) ?? { pool, cause, phase: bare, count: 0 };
  counts.set(key, { ...known, count: known.count + 1 });
  if (expiryMs !== undefined) firstExpiryMs.set(pool, Math.min(expiryMs, firstExpiryMs.get(pool) ?? Infinity));
}
