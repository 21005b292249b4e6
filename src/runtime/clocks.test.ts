import { getEventListeners } from 'node:events';
import { uptime } from 'node:os';
import { describe, expect, it, vi } from 'vitest';
import { BootClock } from './boot-clock.ts';
import { linkedAbort } from './linked-abort.ts';
import { ManualClock } from './manual-clock.ts';
import { SystemClock } from './system-clock.ts';
import { SystemRandom } from './system-random.ts';

describe('the system clock', () => {
  it('never fires a timer early', async () => {
    const clock = new SystemClock();
    for (const delayMs of [0, 0.4, 1, 3.7, 12]) {
      const from = clock.monotonicMs();
      await clock.sleep(delayMs);
      expect(clock.monotonicMs() - from).toBeGreaterThanOrEqual(delayMs);
    }
  });

  it('waits on when the timer of the runtime fires before its time', async () => {
    const clock = new SystemClock();
    const real = setTimeout;
    const spy = vi.spyOn(globalThis, 'setTimeout');
    let timers = 0;
    // On a busy machine even the early timer may be late; one that is early comes within a few tries.
    for (let tries = 0; tries < 50 && timers < 2; tries += 1) {
      spy.mockClear();
      spy.mockImplementationOnce((callback: () => void) => real(callback, 0));
      const from = clock.monotonicMs();
      await clock.sleep(30);
      expect(clock.monotonicMs() - from).toBeGreaterThanOrEqual(30);
      timers = spy.mock.calls.length;
    }
    expect(timers).toBeGreaterThan(1);
    spy.mockRestore();
  });

  it('does not fire a timer of forty days at once', async () => {
    const clock = new SystemClock();
    let fired = false;
    const cancel = clock.after(40 * 86_400_000, () => {
      fired = true;
    });
    await clock.sleep(20);
    cancel();
    cancel();
    expect(fired).toBe(false);
  });

  it('keeps boot time and monotonic time in step while the machine is awake', async () => {
    const clock = new SystemClock();
    const before = clock.bootMs() - clock.monotonicMs();
    await clock.sleep(30);
    expect(Math.abs(clock.bootMs() - clock.monotonicMs() - before)).toBeLessThan(100);
  });

  it('shows the boot time that the kernel shows, and goes on where its file is not there, or says nothing', async () => {
    const [boot, odd] = [new BootClock(), new BootClock('/dev/null')];
    for (const clock of [boot, odd, new BootClock('/no/such/file')]) {
      const before = uptime() * 1_000;
      expect(clock.nowMs()).toBeGreaterThanOrEqual(before);
      expect(clock.nowMs()).toBeLessThanOrEqual(uptime() * 1_000);
    }
    const before = boot.nowMs();
    await new SystemClock().sleep(40);
    expect(boot.nowMs() - before).toBeGreaterThanOrEqual(30);
  });

  it('rejects a sleep with the reason of its signal and leaves no listener behind', async () => {
    const clock = new SystemClock();
    const controller = new AbortController();
    const reason = new Error('enough');
    const sleeping = clock.sleep(60_000, controller.signal);
    controller.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
    await expect(clock.sleep(1, controller.signal)).rejects.toBe(reason);
    const other = new AbortController();
    await clock.sleep(1, other.signal);
    expect(getEventListeners(other.signal, 'abort')).toHaveLength(0);
  });
});

describe('the system random source', () => {
  it('stays within [0, 1) and gives fresh identifiers of the RFC shape', () => {
    const random = new SystemRandom();
    const values = Array.from({ length: 1000 }, () => random.next());
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
    expect(new Set(values).size).toBeGreaterThan(990);
    expect(random.uuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(random.uuid()).not.toBe(random.uuid());
  });
});

describe('a linked abort', () => {
  it('aborts with the reason of the first source that does', () => {
    const first = new AbortController();
    const second = new AbortController();
    const linked = linkedAbort([first.signal, undefined, second.signal]);
    expect(linked.signal.aborted).toBe(false);
    second.abort(new Error('second'));
    first.abort(new Error('first'));
    expect(linked.signal.reason).toEqual(new Error('second'));
  });

  it('is aborted from the start when a source is', () => {
    const source = new AbortController();
    source.abort(new Error('over'));
    expect(linkedAbort([source.signal]).signal.reason).toEqual(new Error('over'));
  });

  it('leaves no listener on a process-lived source after 1,000 uses', () => {
    const source = new AbortController();
    for (let use = 0; use < 1000; use++) {
      linkedAbort([source.signal]).release();
    }
    linkedAbort([source.signal]).abort();
    expect(getEventListeners(source.signal, 'abort')).toHaveLength(0);
  });

  it('aborts at its deadline, and not after it was released', async () => {
    const clock = new ManualClock();
    const late = linkedAbort([], { clock, delayMs: 100, reason: () => new Error('too late') });
    const released = linkedAbort([], { clock, delayMs: 100, reason: () => new Error('too late') });
    await clock.advance(99);
    expect(late.signal.aborted).toBe(false);
    released.release();
    await clock.advance(1);
    expect(late.signal.reason).toEqual(new Error('too late'));
    expect(released.signal.aborted).toBe(false);
    expect(clock.pending).toBe(0);
  });
});

describe('the manual clock', () => {
  it('fires timers in order, also those armed by other timers, and stops at the asked time', async () => {
    const clock = new ManualClock({ monotonicMs: 0 });
    const seen: [string, number][] = [];
    const note = (name: string) => (): void => {
      seen.push([name, clock.monotonicMs()]);
    };
    clock.after(20, note('b'));
    clock.after(10, () => {
      note('a')();
      clock.after(5, note('a+5'));
    });
    clock.after(31, note('late'));
    await clock.advance(30);
    expect(seen).toEqual([
      ['a', 10],
      ['a+5', 15],
      ['b', 20],
    ]);
    expect(clock.monotonicMs()).toBe(30);
  });

  it('tells a suspended machine by boot time and a frozen process by late timers', async () => {
    const clock = new ManualClock({ monotonicMs: 0, bootMs: 0 });
    let firedAtMs = -1;
    clock.after(10, () => {
      firedAtMs = clock.monotonicMs();
    });
    clock.suspend(1000);
    expect([clock.monotonicMs(), clock.bootMs()]).toEqual([0, 1000]);
    clock.freeze(500);
    await clock.advance(0);
    expect(firedAtMs).toBe(500);
  });
});
