import type { NodeFenceStatus, Released } from './node-fence.ts';

/** For a critical alarm: the pods that may run twice, with a leading blank. */
export function releasedBefore({ released, storageRelease, step }: NodeFenceStatus): string {
  const before = step === 'isolation' ? storageRelease : released;
  if (before === undefined) return ' Nothing is released.';
  const unsure = unsureOf(before);
  if (before.pods === 0 && unsure !== '') return ` A release had begun.${unsure}`;
  if (before.pods === 0 && (before.left ?? 0) > 0 && before.kept === undefined) return ' A release had begun: which pods it released is not known.';
  const rest = before.pods - (before.names?.length ?? 0);
  const names = before.names === undefined ? '' : `: ${before.names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
  return ` ${before.pods} pods were released before${names}.${unsure}`;
}

/** Asked for, and nobody said what came of it. */
function unsureOf({ kept = [] }: Pick<Released, 'kept'>): string {
  const pods = kept.filter(({ isUnsure }) => isUnsure === true).map(({ pod }) => pod);
  return pods.length === 0 ? '' : ` Whether ${pods.join(', ')} was released is unknown.`;
}
