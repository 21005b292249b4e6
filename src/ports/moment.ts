import type { Clock } from './clock.ts';

/** Two clocks as of one moment. */
export interface Moment {
  monotonicMs: number;
  bootMs: number;
}

const APART_MS = 50;
const TRIES_MAX = 5;

/**
 * Both clocks. A process that is put aside between two readings, on a machine with more work than cores, would look like one whose machine was suspended: they
 * are read again until nothing came between them, a few times at most. A suspension between them stands still for the one clock, and shows all the same.
 */
export function momentOf(clock: Pick<Clock, 'monotonicMs' | 'bootMs'>): Moment {
  for (let tries = 1; ; tries += 1) {
    const monotonicMs = clock.monotonicMs();
    const bootMs = clock.bootMs();
    if (clock.monotonicMs() - monotonicMs <= APART_MS || tries >= TRIES_MAX) return { monotonicMs, bootMs };
  }
}
