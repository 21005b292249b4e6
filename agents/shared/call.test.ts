import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { Call, type CallTarget } from './call.ts';

function begun(): { clock: ManualClock; controller: AbortController; call: Call<CallTarget> } {
  const [clock, controller] = [new ManualClock(), new AbortController()];
  const target: CallTarget = { device: 'bmc', plug: '', signal: controller.signal, deadlineMs: 1_000 };
  return { clock, controller, call: new Call(clock, target, 'status') };
}

describe('the end of a call', () => {
  it('is told once to whoever waits for it, at once where it has ended, and not to who has left', () => {
    const { controller, call } = begun();
    const [waits, leaves, late] = [vi.fn(), vi.fn(), vi.fn()];
    call.whenEnded(waits);
    call.whenEnded(leaves)();
    controller.abort();
    controller.abort();
    call.whenEnded(late);
    expect([waits, leaves, late].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 1]);
    expect(call.ended).toBe('aborted');
  });

  it('is shown by its signal, whether that was asked for before or after', async () => {
    const [before, after] = [begun(), begun()];
    const { signal } = before.call;
    expect(signal.aborted).toBe(false);
    for (const { clock } of [before, after]) await clock.advance(1_000);
    expect(signal.reason).toBe('deadline');
    expect(after.call.signal.aborted).toBe(true);
    expect(after.call.signal).toBe(after.call.signal);
  });

  it('ends what waits within it, and leaves nothing behind', async () => {
    const { clock, controller, call } = begun();
    const waiting = expect(call.within(new Promise(() => undefined))).rejects.toMatchObject({ kind: 'Timeout' });
    const pausing = call.pause(60_000);
    await clock.advance(1_000);
    await waiting;
    await pausing;
    await expect(call.within(Promise.resolve(1))).rejects.toMatchObject({ kind: 'Timeout' });
    call.release();
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    expect(clock.nextInMs).toBeUndefined();
  });
});
