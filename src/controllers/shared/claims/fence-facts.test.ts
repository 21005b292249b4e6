import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../domain/node-fence.ts';
import { planOf } from '../../../domain/testing/model.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import { readFence } from './fence-facts.ts';

function run(action: JournalEntry['action'], result?: JournalEntry['result']): JournalEntry {
  const device = { method: 'bmc', agent: 'redfish', device: 'bmc', plug: '' };
  const at = { startedAt: '2027-01-01T00:00:00Z', deadlineMs: 8_000, ...(result !== undefined && { finishedAt: '2027-01-01T00:00:01Z', result }) };
  const of = {
    id: action,
    step: 'power-management' as const,
    level: 1,
    operation: `${action}:bmc`,
    attempt: 1,
    restart: 0,
    runner: 'in-process' as const,
    epoch: 1,
  };
  return { ...of, ...device, ...at, action };
}

function fenceWith(...journal: JournalEntry[]): NodeFence {
  const frozen = { nodeUID: 'n', plan: planOf() };
  const counts = { level: 1, incident: 1, epoch: 1, retries: 0, restarts: 0 };
  const trigger = { kind: 'request' as const, since: '2027-01-01T00:00:00Z' };
  const empty = { jobs: [], evidence: [], timeline: {}, conditions: [], history: [] };
  return {
    metadata: { name: 'node-fence-n', uid: 'u' },
    spec: { node: 'n' },
    status: { state: 'running', step: 'power-management', ...counts, frozen, trigger, journal, ...empty } as unknown as NonNullable<
      NodeFence['status']
    >,
  };
}

describe('an off that must be finished, with the way back', () => {
  it.each<[string, JournalEntry[]]>([
    ['is under way', [run('off')]],
    ['was done', [run('off', 'succeeded')]],
    ['was done, and the on is under way', [run('off', 'succeeded'), run('confirm', 'succeeded'), run('on')]],
    ['is tried anew', [run('off', 'timeout'), run('off')]],
  ])('is one that %s', (_words, journal) => {
    expect(readFence(fenceWith(...journal), 'us').isOffSent).toBe(true);
  });

  it.each<[string, JournalEntry[]]>([
    ['nobody has begun', []],
    ['came to nothing', [run('off', 'timeout')]],
    ['is not there any more', [run('off', 'succeeded'), run('confirm', 'found-not-done')]],
  ])('is none that %s: another would be begun', (_words, journal) => {
    expect(readFence(fenceWith(...journal), 'us').isOffSent).toBe(false);
  });
});
