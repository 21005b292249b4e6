import { describe, expect, it } from 'vitest';
import type { NodeGuard } from '../../ports/preservation.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { guardOf, lookAfterMs, askedAgainst } from './guard.ts';
import { FenceHarness, nodeOf, provenStatus } from './testing/harness.ts';

function told(answer: NodeGuard | 'unknown' | undefined): Parameters<typeof guardOf>[0] & { clock: ManualClock } {
  const preservation = { guardOf: () => answer, isPreserved: () => false, onChange: () => () => undefined };
  return { clock: new ManualClock(), preservation };
}

describe('what a fence is told of the preservation of its machine', () => {
  it('is nothing where nobody preserves', () => {
    expect(guardOf({ clock: new ManualClock() }, 'a')).toBeUndefined();
    expect(guardOf(told(undefined), 'a')).toBeUndefined();
  });

  it('is the guard with its cause, and its end by the clock on the wall', () => {
    const source = told(undefined);
    const untilMs = source.clock.wallMs() + 5_000;
    const until = new Date(untilMs).toISOString();
    const guarded = { ...told({ node: 'a', guard: 'isolate-and-hold', cause: 'automatic', untilMs }), clock: source.clock };
    expect(guardOf(guarded, 'a')).toEqual({ kind: 'isolate-and-hold', cause: 'automatic', until });
  });

  it('is over at its end, whoever has not noticed yet', async () => {
    const clock = new ManualClock();
    const untilMs = clock.wallMs() + 5_000;
    const guarded = { ...told({ node: 'a', guard: 'isolate-and-hold', cause: 'user', untilMs }), clock };
    const before = guardOf(guarded, 'a');
    expect(lookAfterMs(before, guarded)).toBe(5_000);
    await clock.advance(5_000);
    expect(guardOf(guarded, 'a')).toBeUndefined();
  });

  it('is looked at again within the hour, however far its end is', () => {
    const clock = new ManualClock();
    const until = new Date(clock.wallMs() + 60 * 86_400_000).toISOString();
    expect(lookAfterMs({ kind: 'isolate-and-hold', cause: 'user', until }, { clock })).toBe(3_600_000);
    expect(lookAfterMs({ kind: 'isolate-and-hold', cause: 'user' }, { clock })).toBeUndefined();
    expect(lookAfterMs({ kind: 'unknown' }, { clock })).toBeUndefined();
  });

  it('says that it is not known, or that the machine is being deleted', () => {
    expect(guardOf(told('unknown'), 'a')).toEqual({ kind: 'unknown' });
    expect(guardOf(told({ node: 'a', guard: 'drop', cause: 'user' }), 'a')).toEqual({ kind: 'drop' });
  });
});

describe('what comes between the decision of a call and its sending', () => {
  type Fence = NonNullable<Parameters<typeof askedAgainst>[1]>;

  /** Reasons against the off of a fence that a person asked for, of a node that is Ready or not. */
  function against(change: Partial<Fence['metadata']>, spec: Partial<Fence['spec']>, ready: 'True' | 'Unknown', wasSent = false): string[] {
    const { dependencies, nodes, plan } = new FenceHarness(new ManualClock());
    nodes.items = [nodeOf({ ready })];
    const off = { step: 'power-management', action: 'off', restart: 0 } as const;
    const journal = [{ ...off, id: 'off-1' }, ...(wasSent ? [{ ...off, id: 'off-0', result: 'succeeded' }] : [])] as never;
    const status = { ...provenStatus(plan), trigger: { kind: 'person' as const, since: '' }, journal };
    const fence = { metadata: { name: 'node-fence-a', ...change }, spec: { node: 'a', ...spec }, status };
    return askedAgainst(dependencies, fence, { id: 'off-1', step: 'power-management' }).map(({ reason }) => reason);
  }
  const requestedBy = { apiVersion: 'v1', kind: 'Person', name: 'p', uid: 'p' };

  it('may be the deletion of its NodeFence, whatever it serves and whatever was sent before', () => {
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    expect(against({ deletionTimestamp }, { requestedBy }, 'Unknown')).toEqual(['deleted']);
    expect(against({ deletionTimestamp }, { requestedBy }, 'True', true)).toEqual(['deleted']);
  });

  it('may be the end of its request, where the node is well and nothing was sent yet', () => {
    expect(against({}, {}, 'True')).toEqual(['withdrawn']);
    expect([against({}, { requestedBy }, 'True'), against({}, {}, 'Unknown'), against({}, {}, 'True', true)]).toEqual([[], [], []]);
  });
});
