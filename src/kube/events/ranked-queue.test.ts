import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RankedQueue } from './ranked-queue.ts';

describe('a ranked queue', () => {
  it('gives the first of the first rank', () => {
    const queue = new RankedQueue<string>(3, 10);
    for (const [item, rank] of [
      ['late', 2],
      ['one', 1],
      ['two', 1],
      ['first', 0],
    ] as const)
      queue.push(item, rank);
    expect([queue.shift(), queue.shift(), queue.shift(), queue.shift(), queue.shift()]).toEqual(['first', 'one', 'two', 'late', undefined]);
  });

  it('drops the newest of the last rank for what is before it, and refuses what is not', () => {
    const queue = new RankedQueue<string>(3, 2);
    queue.push('old', 2);
    queue.push('new', 2);
    expect([queue.push('same', 2), queue.push('first', 0), queue.push('middle', 1), queue.push('another', 1), queue.size]).toEqual([
      'same',
      'new',
      'old',
      'another',
      2,
    ]);
  });

  it('puts back in front of its rank', () => {
    const queue = new RankedQueue<string>(2, 2);
    queue.push('a', 0);
    queue.push('b', 0);
    const taken = queue.shift() ?? '';
    queue.putBack(taken, 0);
    expect([queue.size, queue.shift(), queue.shift()]).toEqual([2, 'a', 'b']);
  });

  it('never loses one silently, never holds more than its bound, and drops none that is before one that it keeps', () => {
    const pushed = fc.array(fc.nat(4), { maxLength: 60 });
    fc.assert(
      fc.property(pushed, fc.integer({ min: 1, max: 20 }), (ranks, sizeMax) => {
        const queue = new RankedQueue<{ rank: number }>(5, sizeMax);
        const dropped = ranks.flatMap((rank) => queue.push({ rank }, rank) ?? []);
        expect(queue.size).toBe(Math.min(sizeMax, ranks.length));
        const kept: { rank: number }[] = [];
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) kept.push(next);
        expect(kept.length + dropped.length).toBe(ranks.length);
        expect(kept.map(({ rank }) => rank)).toEqual(ranks.toSorted((a, b) => a - b).slice(0, sizeMax));
      }),
    );
  });
});
