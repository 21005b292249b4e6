import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../domain/node-fence.ts';
import type { Plan } from '../../domain/plan.ts';
import { planOf } from '../../domain/testing/model.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { NodeObservation } from './observation.ts';
import type { NodeGuard } from '../../ports/preservation.ts';
import { holdsOnRemedy, holdsOnRequest } from './holds-for-other-controllers.ts';
import { FenceHarness, nodeOf, provenStatus } from './testing/harness.ts';

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
  const storm = { holdsOnRequest: () => [{ reason: 'startup-grace', policy: 'startup-grace', message: '' }] };
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

it('a machine that somebody wants power-cycled is judged beside those that are switched off on request now', () => {
  const { dependencies } = new FenceHarness(new ManualClock());
  const max = { reason: 'max-unhealthy', policy: 'max-unhealthy', message: '' };
  const storm = { holdsOnRequest: (_node: string, offs?: ReadonlyMap<string, unknown>) => (offs?.has('a') === true ? [max] : []) };
  const none = { fence: undefined, seen: undefined };
  const offsOnRequest = { all: new Map([['a', { kind: 'begun' as const }]]) };
  expect(holdsOnRequest(dependencies, storm, 'b', () => none)).toEqual([]);
  expect(holdsOnRequest({ ...dependencies, offsOnRequest }, storm, 'b', () => none)).toEqual([max]);
});

describe('a machine that is preserved', () => {
  const none = (): { fence: undefined; seen: undefined } => ({ fence: undefined, seen: undefined });
  const kept = { node: 'a', guard: 'isolate-and-hold', cause: 'user' } as const;

  /** What holds node `a` of a plan with this `preserved=`. */
  function heldBy(guard: NodeGuard | 'unknown' | undefined, preserved?: Plan['preserved'], ownNode?: string): string[][] {
    const harness = new FenceHarness(new ManualClock(), { ownNode });
    harness.nodes.items = [nodeOf()];
    harness.plan = planOf({ ...(preserved !== undefined && { preserved }) });
    const dependencies = {
      ...harness.dependencies,
      preservation: { guardOf: () => guard, isPreserved: () => true, onChange: () => () => undefined },
    };
    const onRequest = holdsOnRequest(dependencies, { holdsOnRequest: () => [] }, 'a', none);
    const onRemedy = holdsOnRemedy(dependencies, { holdsOnRemedy: () => [] }, 'a', new Map());
    return [onRequest, onRemedy].map((holds) => holds.map(({ reason }) => reason));
  }

  it('is not switched off on request, whoever leads on whatever node', () => {
    expect(heldBy(kept)[0]).toEqual(['preserved']);
    expect(heldBy(kept, undefined, 'a')[0]).toEqual(['preserved']);
    expect(heldBy(kept, undefined, 'other')[0]).toEqual(['preserved']);
    expect(heldBy({ ...kept, guard: 'never-fence' })[0]).toEqual(['preserved']);
    expect(heldBy('unknown')[0]).toEqual(['preserved-unknown']);
  });

  it('is switched off where its plan says so, and where its Machine is being deleted', () => {
    expect(heldBy(kept, 'ignore')[0]).toEqual([]);
    expect(heldBy(kept, 'power-off')[0]).toEqual([]);
    expect(heldBy({ ...kept, guard: 'drop' })[0]).toEqual([]);
    expect(heldBy(undefined)[0]).toEqual([]);
  });

  it('has remedies where its plan lets it be fenced like any other', () => {
    expect(heldBy(kept)[1]).toEqual(['preserved']);
    expect(heldBy(kept, 'ignore')[1]).toEqual([]);
    expect(heldBy({ ...kept, guard: 'drop' }, 'ignore')[1]).toEqual(['preserved']);
  });
});
