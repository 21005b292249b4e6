import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { ManualClock } from '../../src/runtime/manual-clock.ts';
import { Call } from '../shared/call.ts';
import { Permits } from './permits.ts';

function start(atOnceMax: number, clockOfPermits?: ConstructorParameters<typeof Permits>[0]) {
  const clock = new ManualClock();
  const permits = new Permits(clockOfPermits ?? clock, atOnceMax);
  const granted: number[] = [];
  const held: (() => void)[] = [];
  const calls: Call[] = [];
  const ask = (name: number, controller = new AbortController()): Promise<void> => {
    const target = {
      plug: '',
      device: 'bmc',
      parameters: {},
      identity: { node: 'a' },
      signal: controller.signal,
      deadlineMs: 60_000,
      beforeSend: () => undefined,
    };
    const call = new Call(clock, target, 'test');
    calls.push(call);
    return permits.take(call).then((giveBack) => {
      granted.push(name);
      held.push(giveBack);
    });
  };
  return { clock, permits, granted, held, calls, ask };
}

async function turns(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await turn();
}

describe('permits', () => {
  it('are given up to the bound, first come first served, one for each that is given back', async () => {
    const { permits, granted, held, ask } = start(2);
    const all = [1, 2, 3, 4].map((name) => ask(name));
    await turns(3);
    expect(granted).toEqual([1, 2]);
    held[1]?.();
    held[1]?.();
    await turns(3);
    expect(granted).toEqual([1, 2, 3]);
    expect(permits.held).toBe(2);
    held[0]?.();
    await Promise.all(all);
    expect(granted).toEqual([1, 2, 3, 4]);
  });

  it('are given to four in one turn of the event loop at most', async () => {
    const { granted, ask } = start(64);
    const all = Array.from({ length: 20 }, (_, name) => ask(name));
    await Promise.resolve();
    await Promise.resolve();
    expect(granted).toHaveLength(4);
    await Promise.all(all);
    expect(granted).toEqual(Array.from({ length: 20 }, (_, name) => name));
  });

  it('count for 60 ms of silence where others wait: dead devices do not hold up the living', async () => {
    const { clock, granted, ask } = start(2);
    const all = [1, 2, 3].map((name) => ask(name));
    await turns(2);
    await clock.advance(59);
    await turns(2);
    expect(granted).toEqual([1, 2]);
    await clock.advance(1);
    await Promise.all(all);
    expect(granted).toEqual([1, 2, 3]);
  });

  it('count no longer either where a process that stood still notices before its next turn that four were silent', async () => {
    let nowMs = 0;
    const due: (() => void)[] = [];
    const standing = { monotonicMs: () => nowMs, after: (_delayMs: number, callback: () => void) => (due.push(callback), () => undefined) };
    const { granted, ask } = start(4, standing);
    const all = Array.from({ length: 12 }, (_, name) => ask(name));
    for (const count of [8, 12]) {
      nowMs += 60;
      due.shift()?.();
      await turns(4);
      expect(granted).toHaveLength(count);
    }
    await Promise.all(all);
  });

  it('count on while their devices answer: what lasts long because this process is busy lets in nobody', async () => {
    const { clock, permits, granted, calls, ask } = start(2);
    const all = [1, 2, 3, 4].map((name) => ask(name));
    await turns(2);
    await clock.advance(40);
    if (calls[0] !== undefined) permits.heard(calls[0]);
    await clock.advance(20);
    await turns(2);
    expect(granted).toEqual([1, 2, 3]);
    await clock.advance(39);
    await turns(2);
    expect(granted).toEqual([1, 2, 3]);
    await clock.advance(1);
    await Promise.all(all);
    expect(granted).toEqual([1, 2, 3, 4]);
  });

  it('are no longer kept by a call that has given its own back, whatever its device says then', async () => {
    const { permits, calls, held, ask } = start(1);
    await ask(1);
    held[0]?.();
    if (calls[0] !== undefined) permits.heard(calls[0]);
    expect(permits.held).toBe(0);
  });

  it('are not kept by a call that ended while it waited', async () => {
    const { permits, granted, held, ask } = start(1);
    const stopping = new AbortController();
    const first = ask(1);
    const given = ask(2, stopping);
    const third = ask(3);
    stopping.abort();
    await expect(given).rejects.toMatchObject({ kind: 'NotSent' });
    await first;
    held[0]?.();
    await third;
    expect(granted).toEqual([1, 3]);
    expect(permits.held).toBe(1);
  });
});
