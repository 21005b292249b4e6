import { describe, expect, it } from 'vitest';
import { TransportError } from '../../ports/api-transport.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { Loop } from './loop.ts';

const random = { next: () => 1, uuid: () => 'u' };

describe('a level-triggered loop', () => {
  it('runs once for many pokes', async () => {
    const clock = new ManualClock();
    let runs = 0;
    const loop = new Loop(clock, random, () => {
      runs += 1;
      return Promise.resolve(undefined);
    });
    for (let index = 0; index < 5; index += 1) loop.poke();
    await clock.advance(1_000);
    expect(runs).toBe(1);
  });

  it('runs exactly once more when it is poked during a run, and never twice at once', async () => {
    const clock = new ManualClock();
    let [runs, running, most] = [0, 0, 0];
    const loop = new Loop(clock, random, async () => {
      runs += 1;
      running += 1;
      most = Math.max(most, running);
      await clock.sleep(100);
      running -= 1;
      return undefined;
    });
    loop.poke();
    await clock.advance(50);
    loop.poke();
    loop.poke();
    await clock.advance(1_000);
    expect([runs, most]).toEqual([2, 1]);
  });

  it('comes back when its work asks for it, and earlier when it is poked', async () => {
    const clock = new ManualClock();
    const runsAtMs: number[] = [];
    const begunAtMs = clock.monotonicMs();
    const loop = new Loop(clock, random, () => {
      runsAtMs.push(clock.monotonicMs() - begunAtMs);
      return Promise.resolve(300);
    });
    loop.poke();
    await clock.advance(400);
    loop.poke();
    await clock.advance(200);
    expect(runsAtMs).toEqual([0, 300, 400]);
  });

  it('tries again with growing pauses while the API fails, whatever pokes it', async () => {
    const clock = new ManualClock();
    let runs = 0;
    const loop = new Loop(clock, random, () => {
      runs += 1;
      return Promise.reject(new TransportError('unreachable', 'no'));
    });
    loop.poke();
    await clock.advance(10_000);
    expect(runs).toBeGreaterThan(6);
    expect(runs).toBeLessThan(14);
  });

  it('does nothing after it was stopped', async () => {
    const clock = new ManualClock();
    let runs = 0;
    const loop = new Loop(clock, random, () => {
      runs += 1;
      return Promise.resolve(10);
    });
    loop.poke();
    await clock.advance(5);
    loop.stop();
    loop.poke();
    await clock.advance(1_000);
    expect([runs, clock.pending]).toEqual([1, 0]);
  });
});
