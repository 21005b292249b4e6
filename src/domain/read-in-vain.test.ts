import { describe, expect, it } from 'vitest';
import { advance } from './advance.ts';
import { isolated } from './testing/course.ts';
import type { Context } from './transition.ts';

describe('a proof that was read again in vain, and that still stands', () => {
  it('is read again after settle, not as fast as it is answered', () => {
    const model = isolated();
    expect(model.next()).toBe('off:off');
    model.step();
    model.inFlight.clear();
    const { status } = model;
    const [off] = status.journal.filter(({ action }) => action === 'off');
    if (off === undefined) throw new Error('nothing was switched off');
    const read = { ...off, id: 'read', operation: 'run:itself', action: 'confirm' as const, result: 'found-not-done' as const };
    const journal = [...status.journal.filter(({ action }) => action !== 'release'), read];
    const { plan, node, nowMs } = model;
    const snapshot = { ...model.snapshot(), since: { journal: nowMs } };
    const context = { snapshot, node, plan, triggered: true, status: { ...status, journal } } as unknown as Context;
    const ends = { finished: () => ({}), failed: () => ({}) };
    const { requeueAtMs, dispatch } = advance(context, 'power-management', ends);
    expect([requeueAtMs, dispatch]).toEqual([nowMs + plan.timing.settleMs, undefined]);
  });
});
