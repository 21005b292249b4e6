import { RELEASE_WRITES_WITHIN_MS } from '../../../domain/proof-age.ts';
import type { Clock } from '../../../ports/clock.ts';

/** Throws in the turn in which a write leaves that rests on this read of a device: longer ago, and the power may be back. */
export function unlessOld(clock: Pick<Clock, 'monotonicMs'>, { atMs }: { atMs: number }): () => void {
  return () => {
    const ageMs = clock.monotonicMs() - atMs;
    if (ageMs > RELEASE_WRITES_WITHIN_MS)
      throw new Error(`the last read of its device is older than ${RELEASE_WRITES_WITHIN_MS / 1_000} s: nothing was sent, and it is read again`);
  };
}
