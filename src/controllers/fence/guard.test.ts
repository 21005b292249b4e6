import { describe, expect, it } from 'vitest';
import type { NodeGuard } from '../../ports/preservation.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { guardOf, lookAfterMs } from './guard.ts';

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
