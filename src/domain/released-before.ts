import type { NodeFenceStatus } from './node-fence.ts';

/** For a critical alarm: the pods that may run twice, with a leading blank. */
export function releasedBefore({ released, storageRelease, step }: NodeFenceStatus): string {
  const before = step === 'isolation' ? storageRelease : released;
  if (before === undefined) return ' Nothing is released.';
  if (before.pods === 0 && (before.left ?? 0) > 0) return ' A release had begun: which pods it let go is not known.';
  const rest = before.pods - (before.names?.length ?? 0);
  const names = before.names === undefined ? '' : `: ${before.names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  return ` ${before.pods} pods were released before${names}.`;
}
