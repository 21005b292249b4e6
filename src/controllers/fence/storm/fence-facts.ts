import { cutsOff, offBegan } from '../../../domain/journal.ts';
import type { JournalEntry, NodeFenceStatus } from '../../../domain/node-fence.ts';
import type { StormFence } from '../../../domain/policies/view.ts';
import type { NodeFence } from '../../../ports/resources.ts';

/** What a hold forbids: what cuts off, and the release; batches of one ask before each. */
export function isHeldBack(entry: Pick<JournalEntry, 'step' | 'action' | 'agent'>): boolean {
  return cutsOff(entry) || entry.action === 'release';
}

function mayHaveBegun(entry: JournalEntry): boolean {
  return cutsOff(entry) && mayHaveBeenSent(entry);
}

function mayHaveBeenSent({ result }: JournalEntry): boolean {
  return result !== 'not-sent' && result !== 'stopped';
}

/** The first run of this incident that isolated or switched. */
export function firstRun(status: NodeFenceStatus): JournalEntry | undefined {
  return status.journal.find(mayHaveBegun);
}

/** From its first isolating or switching intent until its release; an error, an off on purpose, a machine that is kept for a look, and everything after hold none. */
export function holdsSlot(status: NodeFenceStatus): boolean {
  // Whatever has held it since: it waits for the next, like one that has not begun.
  if (status.slotGivenAway === true) return false;
  if ((status.state !== 'new' && status.state !== 'running') || status.released !== undefined) return false;
  return status.journal.some((entry) => entry.restart === status.restarts && mayHaveBegun(entry));
}

/** Something of it was done and is not over: its node counts as failed whatever it shows. */
export function isBegun(status: NodeFenceStatus): boolean {
  return status.state !== 'final' && (status.state !== 'new' || status.journal.some(mayHaveBeenSent));
}

export function stormFenceOf({ spec, status }: NodeFence): StormFence {
  const isRequested = spec.requestedBy !== undefined;
  // The schema's defaults give a new object a status; it has begun only when its plan is frozen.
  if (status?.frozen === undefined) return { holdsSlot: false, isRequested, state: 'new' };
  const { state, slotGivenAway } = status;
  return {
    holdsSlot: holdsSlot(status),
    isRequested,
    state,
    ...(offBegan(status) && { isSwitchedOff: true }),
    ...(slotGivenAway === true && { isKept: true }),
  };
}
