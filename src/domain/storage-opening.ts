import { SWITCHED_ON } from './evidence.ts';
import { mayWriteThere } from './health.ts';
import type { JournalEntry, NodeFenceStatus } from './node-fence.ts';
import { provingOperation } from './program.ts';
import type { NodeFacts } from './snapshot.ts';
import type { Context } from './transition.ts';

/**
 * What wrote to a storage that is revoked may still run on that boot: only an off that was read back since, and has not been disproved, or another boot, opens it
 * again. A run that only waited, and proved nothing, opens nothing.
 */
export function mayOpenStorage({ plan, node, snapshot: { since } }: Pick<Context, 'plan' | 'node' | 'snapshot'>, status: NodeFenceStatus): boolean {
  if (!mayWriteThere(node, status)) return true;
  if (node !== undefined && speaksSince(node, since.off ?? since.evidence)) return false;
  const standing = new Set(
    status.evidence.filter(({ voidedAt, voidedBecause }) => voidedAt === undefined || voidedBecause === SWITCHED_ON).map(({ source }) => source),
  );
  return status.journal.some(
    (entry) =>
      entry.restart === status.restarts &&
      entry.step === 'power-management' &&
      entry.result === 'succeeded' &&
      standing.has(entry.id) &&
      entry.operation === provingOperation(plan, 'power-management', entry.level)?.key,
  );
}

/** On no other boot: its device has switched another machine, or its watchdog has reset none. Where nobody knows when that was proven it speaks if it does now. */
function speaksSince({ lifeAtMs, ready }: NodeFacts, provenAtMs: number | undefined): boolean {
  return provenAtMs === undefined ? ready !== 'Unknown' : lifeAtMs > provenAtMs;
}

/** The last read of an off, by the off itself or again after it, of whichever supply. */
export function lastReadOff({ journal }: NodeFenceStatus): JournalEntry | undefined {
  return journal.findLast(({ step, operation, result }) => step === 'power-management' && result === 'succeeded' && operation.startsWith('off:'));
}
