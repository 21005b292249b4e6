import type { JobReport } from '../../../domain/snapshot.ts';
import type { Run } from './run.ts';
import type { WriteState } from './writes.ts';

/**
 * What is known of a run that a stop ended. Where nothing is on its way, a successor need not wait for it; an off that the device has answered may be
 * ours to take back (P8). `undefined`: a write may still arrive, or nobody has read yet what came of the run of a predecessor, and the intent stays open.
 */
export function cutOff({ kind, entry, operation }: Run, write: WriteState, finishedAt: string): JobReport | undefined {
  if (kind === 'recover' || write === 'sent') return undefined;
  const { id } = entry;
  const message = 'the controller stopped while nothing was on its way to the device; it is done again';
  if (write === undefined) return unsent({ entry }, message, finishedAt);
  const edge = operation?.method?.kind === 'fabric' ? ('closed' as const) : ('off' as const);
  return { id, result: 'interrupted', message, finishedAt, ...(entry.action === 'off' ? { edge, offSent: true } : {}) };
}

/** Of a run that did not begin, as its controller has not heard that its intent stands. */
export function neverBegun(run: Pick<Run, 'entry'>, finishedAt: string): JobReport {
  return unsent(run, 'the API server did not say that this intent stands, and nothing was sent; it is done again', finishedAt);
}

function unsent({ entry: { id, action } }: Pick<Run, 'entry'>, message: string, finishedAt: string): JobReport {
  return { id, result: action === 'confirm' ? 'interrupted' : 'not-sent', message, finishedAt };
}
