import type { JobResult, JournalEntry } from '../../../domain/node-fence.ts';
import { harmless } from '../terminal/text.ts';

type Run = Pick<JournalEntry, 'action' | 'agent' | 'device' | 'plug' | 'operation' | 'method'>;

/** What a run does, in words: `switch off by redfish at 10.0.0.7 plug 2`. */
export function runWords(run: Run): string {
  return harmless(wordsOf(run));
}

function wordsOf(run: Run): string {
  switch (run.action) {
    case 'off':
      return `switch off by ${run.agent}${placeOf(run)}`;
    case 'on':
      return `switch on by ${run.agent}${placeOf(run)}`;
    case 'reboot':
      return `restart by ${run.agent}${placeOf(run)}`;
    case 'diag':
      return `make the kernel dump by ${run.agent}${placeOf(run)}`;
    case 'run':
      return `${run.agent}${placeOf(run)}`;
    case 'confirm':
      return `read back ${run.operation.replace(':', ' ')}${placeOf(run)}`;
    case 'release':
      return 'release the workload';
    case 'release-end':
      return 'end the release, take our taint back';
    case 'acknowledge':
      return `weigh the acknowledgement ${run.method}`;
  }
}

/** ` at 10.0.0.7 plug 2`, or nothing. */
export function placeOf({ device, plug }: { device: string; plug: string }): string {
  if (device === '') return '';
  return harmless(` at ${device}${plug === '' ? '' : ` plug ${plug}`}`);
}

const RESULTS: Readonly<Record<JobResult, { mark: '✓' | '✗' | '·'; words: string }>> = {
  succeeded: { mark: '✓', words: 'done' },
  'found-done': { mark: '✓', words: 'found done' },
  'found-not-done': { mark: '·', words: 'found not done' },
  'not-sent': { mark: '·', words: 'nothing was sent' },
  stopped: { mark: '·', words: 'stopped by a person, nothing was sent' },
  interrupted: { mark: '·', words: 'interrupted, done anew' },
  voided: { mark: '✗', words: 'void: a sign of life came' },
  refused: { mark: '✗', words: 'refused' },
  unreachable: { mark: '✗', words: 'unreachable' },
  timeout: { mark: '✗', words: 'not in time' },
  misconfigured: { mark: '✗', words: 'misconfigured' },
  failed: { mark: '✗', words: 'failed' },
};

/** How a run ended; `…` while it is under way. */
export function resultWords(result: JobResult | undefined): { mark: '✓' | '✗' | '·' | '…'; words: string } {
  return result === undefined ? { mark: '…', words: 'under way' } : RESULTS[result];
}
