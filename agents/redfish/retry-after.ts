import type { Clock } from '../../src/ports/clock.ts';

/** When to ask again, as HTTP's `Retry-After` says it: seconds or a date. Milliseconds from now; undefined when it says neither. */
export function retryAfterMs(header: string | undefined, clock: Pick<Clock, 'wallMs'>): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,6}$/.test(header.trim())) return Number(header) * 1_000;
  const atMs = /\bGMT$/.test(header.trim()) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - clock.wallMs());
}
