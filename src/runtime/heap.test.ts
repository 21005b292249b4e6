import { getHeapStatistics } from 'node:v8';
import { describe, expect, it } from 'vitest';
import { settleHeap } from './heap.ts';

describe('the heap of a process that has started', () => {
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
});
