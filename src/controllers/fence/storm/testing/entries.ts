import type { JournalEntry } from '../../../../domain/node-fence.ts';

/** The intent of a cordon, or what `more` makes of it. */
export function entryOf(more: Partial<JournalEntry> = {}): JournalEntry {
  return {
    id: 'run-1',
    step: 'isolation',
    level: 1,
    operation: 'run:cordon',
    method: 'cordon',
    agent: 'cordon',
    device: '',
    plug: '',
    action: 'run',
    attempt: 1,
    restart: 0,
    runner: 'in-process',
    epoch: 1,
    startedAt: '2026-01-01T00:00:00Z',
    deadlineMs: 1_000,
    ...more,
  };
}
