import type { JournalEntry } from './node-fence.ts';

export type Run = Pick<JournalEntry, 'action' | 'agent' | 'device' | 'plug' | 'operation' | 'method'>;

/** What a run does, in words: `switch off by redfish at 10.0.0.7 plug 2`. */
export function describeRun(run: Run): string {
  switch (run.action) {
    case 'off':
      return `switch off by ${run.agent}${placeOf(run)}`;
    case 'on':
      return `switch on by ${run.agent}${placeOf(run)}`;
    case 'reboot':
      return `restart by ${run.agent}${placeOf(run)}`;
    case 'delete':
      return `delete by ${run.agent}${placeOf(run)}`;
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
      return `check the acknowledgement ${run.method}`;
  }
}

/** ` at 10.0.0.7 plug 2`, or nothing. */
export function placeOf({ device, plug }: Pick<Run, 'device' | 'plug'>): string {
  return device === '' ? '' : ` at ${device}${plug === '' ? '' : ` plug ${plug}`}`;
}
