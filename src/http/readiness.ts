import type { Clock } from '../ports/clock.ts';

/** A watched collection, as far as readiness asks. */
export interface Watched {
  name: string;
  lister: { readonly synced: boolean; readonly freshAtMs: number };
  /** Of the last failed cycle, for people. */
  lastError?: Error | undefined;
}

export interface Check {
  name: string;
  ok: boolean;
  detail: string;
}

/** A real API server sends a bookmark about every minute; the reflector gives a silent watch up after 75 s. */
export const FRESH_WITHIN_MS = 90_000;

/** One check per watched collection: synced, and heard of within `freshWithinMs`. */
export function watchChecks(watched: Iterable<Watched>, clock: Clock, freshWithinMs = FRESH_WITHIN_MS): readonly Check[] {
  return [...watched].map(({ name, lister, lastError }) => {
    const why = lastError === undefined ? '' : `: ${lastError.message}`;
    if (!lister.synced) {
      return { name, ok: false, detail: `no first list yet${why}` };
    }
    const ageMs = clock.monotonicMs() - lister.freshAtMs;
    const ok = ageMs <= freshWithinMs;
    if (ageMs === Number.POSITIVE_INFINITY) {
      return { name, ok, detail: `not heard of since it is to be listed anew${why}` };
    }
    const seconds = (ageMs / 1000).toFixed(1);
    return { name, ok, detail: ok ? `live ${seconds} s ago` : `not heard of for ${seconds} s, more than ${String(freshWithinMs / 1000)} s${why}` };
  });
}
