import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from './node-fence.ts';
import { Model, planOf } from './testing/model.ts';

/** What a version after this one may have written beside each thing. */
const NEWER = { newer: 'kept' };

function withNewer(status: NodeFenceStatus): NodeFenceStatus {
  const { frozen, restore } = status;
  return {
    ...status,
    ...NEWER,
    journal: status.journal.map((entry) => ({ ...entry, ...NEWER })),
    evidence: status.evidence.map((item) => ({ ...item, ...NEWER })),
    timeline: { ...status.timeline, ...NEWER },
    ...(frozen !== undefined && { frozen: { ...frozen, ...NEWER, plan: { ...frozen.plan, ...NEWER } } }),
    ...(restore !== undefined && { restore: { ...restore, ...NEWER } }),
  };
}

/** A fence from the failure to its end; `at` each step somebody newer has led. */
function played(at: number): NodeFenceStatus[] {
  const model = new Model(planOf());
  model.fail();
  model.nowMs += 60_000;
  const seen: NodeFenceStatus[] = [];
  for (let pass = 0; pass < 400 && model.fence?.status?.state !== 'final'; pass += 1) {
    model.step();
    if (pass === at && model.fence?.status !== undefined) model.fence = { ...model.fence, status: withNewer(model.fence.status) };
    if (pass >= at && model.fence?.status !== undefined) seen.push(model.fence.status);
    model.nowMs += 5_000;
    if (model.inFlight.size > 0) model.finish('succeeded');
    const { released, state } = model.fence?.status ?? {};
    if (released !== undefined) model.drained();
    if (state === 'done') model.live({ ready: 'True', bootID: 'boot-after' });
  }
  return seen;
}

describe('an older controller that takes over from a newer one', () => {
  it.each([2, 8, 14])('keeps what it does not know, through the rest of the fence (taken over at step %i)', (at) => {
    const seen = played(at);
    const first = seen[0] ?? expect.fail('the fence was over before');
    const last = seen.at(-1) as NodeFenceStatus;
    expect(last).toMatchObject({ state: 'final', outcome: 'recovered' });
    const ids = first.journal.map(({ id }) => id);
    expect(ids.length, 'not before anything was done').toBeGreaterThanOrEqual(at > 2 ? 1 : 0);
    for (const status of seen) {
      expect(status).toMatchObject({ ...NEWER, frozen: { ...NEWER, plan: NEWER }, timeline: NEWER });
      expect(status.journal.filter(({ id }) => ids.includes(id)).every((entry) => 'newer' in entry)).toBe(true);
    }
  });
});
