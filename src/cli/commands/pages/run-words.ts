import { placeOf as placeOfRun, describeRun as describeAnyRun } from '../../../domain/run-words.ts';
import type { Run } from '../../../domain/run-words.ts';
import type { JobResult } from '../../../domain/node-fence.ts';
import { harmless } from '../terminal/text.ts';

/** What a run does, in words: `switch off by redfish at 10.0.0.7 plug 2`. */
export function describeRun(run: Run): string {
  return harmless(describeAnyRun(run));
}

/** ` at 10.0.0.7 plug 2`, or nothing. */
export function placeOf(place: Pick<Run, 'device' | 'plug'>): string {
  return harmless(placeOfRun(place));
}

const RESULTS: Readonly<Record<JobResult, { mark: '✓' | '✗' | '·'; words: string }>> = {
  succeeded: { mark: '✓', words: 'done' },
  'found-done': { mark: '✓', words: 'found done' },
  'found-not-done': { mark: '·', words: 'found not done' },
  'not-sent': { mark: '·', words: 'nothing was sent' },
  stopped: { mark: '·', words: 'stopped, nothing was sent' },
  interrupted: { mark: '·', words: 'interrupted, repeated' },
  voided: { mark: '✗', words: 'void: a sign of life came' },
  refused: { mark: '✗', words: 'refused' },
  unreachable: { mark: '✗', words: 'unreachable' },
  timeout: { mark: '✗', words: 'not in time' },
  misconfigured: { mark: '✗', words: 'misconfigured' },
  failed: { mark: '✗', words: 'failed' },
};

/** How a run ended; `…` while it is under way. */
export function describeResult(result: JobResult | undefined): { mark: '✓' | '✗' | '·' | '…'; words: string } {
  return result === undefined ? { mark: '…', words: 'under way' } : RESULTS[result];
}
