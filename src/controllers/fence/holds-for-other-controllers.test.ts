import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../domain/node-fence.ts';
import { planOf } from '../../domain/testing/model.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { NodeObservation } from './observation.ts';
import { holdsOnRequest } from './holds-for-other-controllers.ts';
import { FenceHarness, provenStatus } from './testing/harness.ts';

const OFF = { step: 'power-management', restart: 0, action: 'off', operation: 'off:off', method: 'off', device: 'bmc', plug: '' } as const;
const ON = { ...OFF, action: 'on', operation: 'on:on', method: 'on' } as const;

/** Reasons against a machine that is to be switched off on request, by a leader on node `own`, so long after it first saw this journal of its fence. */
function against(node: string, journal: readonly object[], afterMs = 0, ownNode = 'own', state = 'running'): string[] {
  const clock = new ManualClock();
  const { dependencies } = new FenceHarness(clock, { ownNode: ownNode === '' ? undefined : ownNode });
  const entries = journal.map((entry, index) => ({ id: `${index}`, finishedAt: 'then', ...entry })) as JournalEntry[];
  const status = { ...provenStatus(planOf()), state: state as 'running', journal: entries };
  const fence = { metadata: { name: 'node-fence-own', uid: 'f' }, spec: { node: 'own' }, status };
  const seen = new NodeObservation(clock.monotonicMs() - afterMs);
  seen.seeStatus(status, clock.monotonicMs() - afterMs);
  const storm = { activeHoldsOn: () => [{ reason: 'startup-grace', policy: 'startup-grace', message: '' }] };
  return holdsOnRequest(dependencies, storm, node, (own) => (own === 'own' ? { fence, seen } : { fence: undefined, seen: undefined })).map(
    ({ reason }) => reason,
  );
}

describe('a machine that somebody wants power-cycled', () => {
  it('is not switched off while an off that was sent to the own node of the leader may still take effect', () => {
    expect(against('b', [{ ...OFF, result: 'interrupted', offSent: true }])).toEqual(['own-node-off']);
    // Nobody saw it take effect: for as long as the device may take, 30 s.
    expect(against('b', [{ ...OFF, result: 'interrupted' }], 29_999)).toEqual(['own-node-off']);
    expect(against('b', [{ ...OFF, result: 'interrupted' }], 30_000)).toEqual([]);
  });

  it.each<[what: string, journal: object[], node: string, ownNode: string, state: string]>([
    ['nothing was sent to the own node', [{ ...OFF, result: 'not-sent' }], 'b', 'own', 'running'],
    [
      'it was switched on again',
      [
        { ...OFF, result: 'succeeded' },
        { ...ON, result: 'succeeded' },
      ],
      'b',
      'own',
      'running',
    ],
    ['its fence is over', [{ ...OFF, result: 'succeeded' }], 'b', 'own', 'final'],
    ['it is the own node itself, which has a hold of its own', [{ ...OFF, result: 'interrupted' }], 'own', 'own', 'running'],
    ['the leader is on no node', [{ ...OFF, result: 'interrupted' }], 'b', '', 'running'],
  ])('is not held where %s', (_what, journal, node, ownNode, state) => {
    expect(against(node, journal, 0, ownNode, state)).toEqual([]);
  });
});
