import { describe, expect, it } from 'vitest';
import { Kernel } from './kernel.ts';

describe('the kernel', () => {
  it('delivers events in the order of their times and moves the clock to each', async () => {
    const kernel = new Kernel({ seed: 1 });
    const seen: [string, number][] = [];
    for (const [name, delayMs] of [
      ['c', 30],
      ['a', 10],
      ['b', 20],
    ] as const) {
      kernel.schedule(delayMs, () => seen.push([name, kernel.nowMs]));
    }
    await kernel.run({ untilMs: 100 });
    expect(seen).toEqual([
      ['a', 10],
      ['b', 20],
      ['c', 30],
    ]);
  });

  it('orders events of one instant by the seed: the same again for the same seed, another way for another', async () => {
    const orderOf = async (seed: number): Promise<string> => {
      const kernel = new Kernel({ seed });
      let order = '';
      for (const name of 'abcdefgh') {
        kernel.schedule(5, () => {
          order += name;
        });
      }
      await kernel.run({ untilMs: 10 });
      return order;
    };
    expect(await orderOf(7)).toBe(await orderOf(7));
    const orders = new Set(await Promise.all([1, 2, 3, 4, 5].map(orderOf)));
    expect(orders.size).toBeGreaterThan(1);
  });

  it('lets every promise settle before the next event', async () => {
    const kernel = new Kernel({ seed: 1 });
    let depth = 0;
    kernel.schedule(1, () => {
      void (async () => {
        for (let step = 0; step < 50; step++) {
          await Promise.resolve();
          depth = step;
        }
      })();
    });
    let seen = -1;
    kernel.schedule(1.001, () => {
      seen = depth;
    });
    await kernel.run({ untilMs: 10 });
    expect(seen).toBe(49);
  });

  it('delivers nothing after the end and nothing that was cancelled', async () => {
    const kernel = new Kernel({ seed: 1 });
    const seen: string[] = [];
    kernel.schedule(101, () => seen.push('late'));
    kernel.schedule(1, () => seen.push('cancelled'))();
    kernel.schedule(100, () => seen.push('last'));
    await kernel.run({ untilMs: 100 });
    expect(seen).toEqual(['last']);
  });

  it('ends as soon as it is told that the run is over', async () => {
    const kernel = new Kernel({ seed: 1 });
    let count = 0;
    const again = (): void => {
      count += 1;
      kernel.schedule(1, again);
    };
    again();
    await kernel.run({ untilMs: 1000, isOver: () => count === 5 });
    expect(count).toBe(5);
  });

  it('reports an unhandled rejection', async () => {
    const kernel = new Kernel({ seed: 1 });
    kernel.schedule(1, () => {
      void Promise.reject(new Error('nobody looks'));
    });
    kernel.schedule(2, () => undefined);
    await kernel.run({ untilMs: 10 });
    expect(kernel.failures.join()).toContain('unhandled rejection: Error: nobody looks');
  });

  it('reports an exception that an event lets through', async () => {
    const kernel = new Kernel({ seed: 1 });
    kernel.schedule(1, () => {
      throw new Error('broken listener');
    });
    await kernel.run({ untilMs: 10 });
    expect(kernel.failures.join()).toContain('uncaught exception: Error: broken listener');
  });

  it('reports more than the allowed port calls at one instant, and only then', async () => {
    const callsAtOneInstant = async (calls: number): Promise<readonly string[]> => {
      const kernel = new Kernel({ seed: 1, portCallsPerInstantMax: 100 });
      for (const atMs of [1, 2]) {
        kernel.schedule(atMs, () => {
          for (let call = 0; call < calls; call++) {
            kernel.countPortCall();
          }
        });
      }
      await kernel.run({ untilMs: 10 });
      return kernel.failures;
    };
    expect(await callsAtOneInstant(100)).toEqual([]);
    expect((await callsAtOneInstant(101)).join()).toContain('more than 100 port calls at one instant');
  });

  it('reports a world that turns in a circle without calling any port', async () => {
    const kernel = new Kernel({ seed: 1, eventsPerInstantMax: 50 });
    const again = (): void => {
      kernel.schedule(0, again);
    };
    again();
    await kernel.run({ untilMs: 10 });
    expect(kernel.failures.join()).toContain('more than 50 events at one instant');
  });

  it('gives a hash that depends on every line, its time and the order', async () => {
    const hashOf = async (lines: readonly (readonly [number, string])[]): Promise<string> => {
      const kernel = new Kernel({ seed: 1 });
      for (const [atMs, text] of lines) {
        kernel.schedule(atMs, () => {
          kernel.trace(text);
        });
      }
      await kernel.run({ untilMs: 10 });
      return kernel.hash();
    };
    const base = await hashOf([
      [1, 'a'],
      [2, 'b'],
    ]);
    expect(base).toMatch(/^[0-9a-f]{16}$/);
    expect(
      await hashOf([
        [1, 'a'],
        [2, 'b'],
      ]),
    ).toBe(base);
    const others = [
      await hashOf([
        [1, 'b'],
        [2, 'a'],
      ]),
      await hashOf([
        [1, 'a'],
        [3, 'b'],
      ]),
      await hashOf([[1, 'a']]),
      await hashOf([
        [1, 'a'],
        [2, 'c'],
      ]),
    ];
    expect(new Set([base, ...others]).size).toBe(5);
  });
});
