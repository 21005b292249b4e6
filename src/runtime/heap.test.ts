import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics } from 'node:v8';
import { beforeAll, describe, expect, it } from 'vitest';
import { settleHeap } from './heap.ts';

describe('the heap of a process', () => {
  let use: ReturnType<typeof used>;
  beforeAll(() => {
    use = used();
  });

  it('gives back what is garbage, and shows nobody how to collect it', () => {
    const held = new Set(Array.from({ length: 500_000 }, (_unused, index) => ({ index })));
    const full = getHeapStatistics();
    expect(held.size).toBe(500_000);
    held.clear();
    settleHeap();
    expect(getHeapStatistics().used_heap_size).toBeLessThan(full.used_heap_size - 10_000_000);
    expect(getHeapStatistics().total_heap_size).toBeLessThan(full.total_heap_size);
    expect('gc' in globalThis).toBe(false);
  });

  it('has room while garbage is made all the time, and gives it back when that is over', () => {
    const { settled, wide, after } = use;
    expect(wide).toBeGreaterThan(1.9 * settled);
    expect(after).toBeLessThan(1.1 * settled);
  });

  it('is small as soon as it has begun', () => {
    const { begun, settled } = use;
    expect(begun).toBeLessThan(1.9 * settled);
  });
});

/** Megabytes of a process of its own, since a heap is one of the whole process: the most after it has begun, what lives, the most of much work, and what is used after it. */
function used(): Record<'begun' | 'settled' | 'wide' | 'after', number> {
  const script = `
    import { memoryUsage } from 'node:process';
    import { setTimeout } from 'node:timers/promises';
    import { keepHeapSmall } from ${JSON.stringify(fileURLToPath(new URL('heap.ts', import.meta.url)))};
    import { ManualClock } from ${JSON.stringify(fileURLToPath(new URL('manual-clock.ts', import.meta.url)))};
    const clock = new ManualClock();
    const usedMb = () => memoryUsage().heapUsed / 2 ** 20;
    const objects = () => Array.from({ length: 5_000 }, (_unused, index) => ({ index, text: 'x' + index }));
    const held = [];
    const mostOf = async (times) => {
      let most = 0;
      for (let time = 0; time < times; time += 1) {
        held[time % 160] = objects();
        most = Math.max(most, usedMb());
        await setTimeout(1);
      }
      return most;
    };
    await mostOf(500);
    keepHeapSmall(clock);
    const begun = await mostOf(500);
    await clock.advance(10_000);
    const settled = usedMb();
    const wide = await mostOf(1_000);
    await clock.advance(60_000);
    console.log(JSON.stringify({ begun, settled, wide, after: usedMb() }));`;
  const { stdout } = spawnSync(process.execPath, ['--max-semi-space-size=2', '--input-type=module', '-e', script], { encoding: 'utf8' });
  return JSON.parse(stdout) as ReturnType<typeof used>;
}
