import type { JournalEntry, NodeFenceStatus } from '../../../domain/node-fence.ts';
import { Model } from '../../../domain/testing/model.ts';

/** A fence whose off is about to be sent. */
export function offDue(): { status: NodeFenceStatus; entry: JournalEntry } {
  const model = new Model();
  model.fail();
  model.next();
  model.runUntil(() => model.inFlight.size > 0);
  const entry = model.dispatched.at(-1)?.entry;
  if (entry?.action !== 'off') throw new Error('the off was expected');
  return { status: model.status, entry };
}
