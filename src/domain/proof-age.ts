/** A release begins on an off read no older than this; an older one is taken again first, so that half of the time is left for the writes. */
export const RELEASE_BEGINS_WITHIN_MS = 2_000;

/** Every write of a release leaves within this of the last off read: longer, and the power may be back (docs/adr/0011-deletions-wait-five-seconds.md). */
export const RELEASE_WRITES_WITHIN_MS = 4_000;
