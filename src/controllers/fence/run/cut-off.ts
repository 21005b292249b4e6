import type { JobReport } from '../../../domain/snapshot.ts';
import type { Run } from './run.ts';
import type { WriteState } from './writes.ts';

/**
 * What is known of a run that a stop ended. Where nothing is on its way, a successor need not wait for it; an off that the device has answered may be
 * ours to take back (P8). `undefined`: a write may still arrive, and the intent stays open.
 */
export function cutOff({ entry, operation }: Run, write: WriteState, finishedAt: string): JobReport | undefined {
  if (write === 'sent') return undefined;
  const { id } = entry;
  const message = 'the controller stopped while nothing was on its way to the device; it is done again';
  if (write === undefined) return { id, result: entry.action === 'confirm' ? 'interrupted' : 'not-sent', message, finishedAt };
  const edge = operation?.method?.kind === 'fabric' ? ('closed' as const) : ('off' as const);
  return { id, result: 'interrupted', message, finishedAt, ...(entry.action === 'off' ? { edge, offSent: true } : {}) };
}
