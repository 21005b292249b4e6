import type { JobResult } from '../../src/domain/node-fence.ts';
import type { JobReport } from '../../src/domain/snapshot.ts';

/** A result that says nothing more. */
export function plain(result: JobResult): { result: JobResult; more: Partial<JobReport> } {
  return { result, more: {} };
}

/** Whoever changes anything of it afterwards fails. */
export function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || value instanceof Set) return;
  Object.freeze(value);
  for (const member of Object.values(value)) freeze(member);
}
