import type { NodeFenceStatus } from './node-fence.ts';

/** A Lease counts to 2^31 - 1, and nobody has led so often: a higher epoch is a slip of a hand, of no leader, and must not end all fencing. */
const EPOCH_MAX = 2_000_000_000;

/** The epoch under which a status was last written by a leader. */
export function epochOf(status: Pick<NodeFenceStatus, 'epoch'> | undefined): number {
  const epoch = status?.epoch ?? 0;
  return epoch <= EPOCH_MAX ? epoch : 0;
}
