import type { JournalEntry } from '../../domain/node-fence.ts';
import { DEFAULT_TIMING } from '../../domain/plan.ts';
import type { PlanMethod } from '../../domain/plan.ts';
import type { Job } from '../../ports/jobs.ts';

/** A job as the controller would give it, where nothing stands against it; `more` overrides. */
export function jobOf(method: PlanMethod, action: JournalEntry['action'], more: Partial<Job> & Pick<Job, 'intentAtMs'>): Job {
  return {
    entry: entryOf(method, action),
    method,
    together: [],
    lastOff: true,
    timing: DEFAULT_TIMING,
    identity: { node: 'a', systemUUID: 'sys-a' },
    identityRequired: true,
    signal: new AbortController().signal,
    parametersOf: () => Promise.resolve({}),
    mayBegin: () => undefined,
    ask: () => Promise.resolve(),
    onSet: () => undefined,
    onAnswered: () => undefined,
    ...more,
  };
}

export function entryOf(method: PlanMethod, action: JournalEntry['action'], more: Partial<JournalEntry> = {}): JournalEntry {
  return {
    id: `${method.name}-1`,
    step: 'power-management',
    level: 1,
    operation: `${action === 'confirm' ? 'off' : action}:${method.name}`,
    method: method.name,
    agent: method.agent,
    device: method.device,
    plug: method.plug,
    action,
    attempt: 1,
    restart: 0,
    runner: 'in-process',
    epoch: 1,
    startedAt: '2026-01-01T00:00:00.000Z',
    deadlineMs: 18_000,
    ...more,
  };
}
