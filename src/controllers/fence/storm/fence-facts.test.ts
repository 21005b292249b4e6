import { describe, expect, it } from 'vitest';
import type { JournalEntry, NodeFenceStatus } from '../../../domain/node-fence.ts';
import { DEFAULT_TIMING } from '../../../domain/plan.ts';
import { planOf } from '../../../domain/testing/model.ts';
import { provenStatus } from '../testing/harness.ts';
import { holdsSlot, isBegun, isHeldBack, stormFenceOf } from './fence-facts.ts';
import { entryOf } from './testing/entries.ts';

const PLAN = planOf({ timing: DEFAULT_TIMING });

function statusOf(more: Partial<NodeFenceStatus>): NodeFenceStatus {
  return { ...provenStatus(PLAN), state: 'running', ...more };
}

const HOLD = { policy: 'preservation', message: '', since: 'now' };
const CORDON = entryOf({});
const OFF = entryOf({ step: 'power-management', action: 'off', agent: 'redfish' });

describe('a slot of max-concurrent', () => {
  it.each<[string, Partial<NodeFenceStatus>, boolean]>([
    ['is held from the first isolating intent, before any result', { state: 'new', journal: [CORDON] }, true],
    ['is held while power-management waits for its delay', { journal: [entryOf({ result: 'succeeded', finishedAt: 'now' })] }, true],
    ['is held by a plan that switches without isolating first', { journal: [OFF] }, true],
    ['is not held by a fence that only waits', { state: 'new', journal: [] }, false],
    ['is not held when nothing was sent', { state: 'new', journal: [entryOf({ result: 'not-sent' })] }, false],
    ['is not held when a stop came before the call', { state: 'new', journal: [entryOf({ result: 'stopped' })] }, false],
    ['is not held by a read of what stands', { state: 'new', journal: [entryOf({ action: 'confirm' })] }, false],
    ['is not held by an earlier restart', { state: 'new', restarts: 1, journal: [CORDON] }, false],
    ['ends at the release', { journal: [OFF], released: { by: 'delete-pods', at: 'now', pods: 1, evidence: 'off-1' } }, false],
    ['ends at an error', { state: 'error', journal: [OFF] }, false],
    ['ends when the machine is off on purpose', { state: 'done', journal: [OFF] }, false],
    [
      'is not held while a preserved machine is kept for a look',
      { journal: [CORDON], slotGivenAway: true, hold: { ...HOLD, reason: 'preserved' } },
      false,
    ],
    [
      'is not had again by another hold that came since, nor when the machine is not kept any more',
      { journal: [CORDON], slotGivenAway: true, hold: { ...HOLD, reason: 'reconnected' } },
      false,
    ],
    ['is held while nobody can tell whether it is preserved', { journal: [CORDON], hold: { ...HOLD, reason: 'preserved-unknown' } }, true],
    ['is not held by a fence that is over', { state: 'final', journal: [OFF] }, false],
  ])('%s', (_words, more, expected) => {
    expect(holdsSlot(statusOf(more))).toBe(expected);
  });
});

describe('what a hold forbids', () => {
  it.each<[string, Partial<JournalEntry>, boolean]>([
    ['an isolating run', {}, true],
    ['an off', { step: 'power-management', action: 'off' }, true],
    ['a release', { step: 'power-management', action: 'release', agent: 'kubernetes' }, true],
    ['never an on', { step: 'power-management', action: 'on' }, false],
    ['never an unfence', { step: 'recovery', agent: 'uncordon' }, false],
    ['never an uncordon of a level that failed', { agent: 'uncordon' }, false],
    ['never the untaint', { step: 'power-management', action: 'release-end', agent: 'kubernetes' }, false],
    ['never a read', { step: 'power-management', action: 'confirm' }, false],
  ])('%s', (_words, more, expected) => {
    expect(isHeldBack(entryOf(more))).toBe(expected);
  });
});

describe('a fence in the picture', () => {
  it('is new until its plan is frozen, whatever defaults the schema gave it', () => {
    const { frozen: _frozen, ...unfrozen } = statusOf({ journal: [OFF] });
    const fence = { metadata: { name: 'node-fence-a' }, spec: { node: 'a' }, status: unfrozen };
    expect(stormFenceOf(fence)).toEqual({ holdsSlot: false, isRequested: false, state: 'new' });
  });

  it('makes its node count as failed from its first run until it is final', () => {
    expect(isBegun(statusOf({ state: 'new', journal: [] }))).toBe(false);
    expect(isBegun(statusOf({ state: 'new', journal: [CORDON] }))).toBe(true);
    expect(isBegun(statusOf({ state: 'done' }))).toBe(true);
    expect(isBegun(statusOf({ state: 'final', journal: [OFF] }))).toBe(false);
  });

  it('makes no node count as failed that nothing was sent to', () => {
    const unsent = (['not-sent', 'stopped'] as const).map((result) => entryOf({ result, finishedAt: 'now' }));
    for (const entry of unsent) expect(isBegun(statusOf({ state: 'new', journal: [entry] }))).toBe(false);
    expect(isBegun(statusOf({ state: 'new', journal: [...unsent, CORDON] }))).toBe(true);
    expect(isBegun(statusOf({ state: 'error', journal: unsent }))).toBe(true);
  });
});
