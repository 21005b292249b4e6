import { describe, expect, it } from 'vitest';
import { EqualLists } from './equal-lists.ts';

describe('equal lists', () => {
  const [a, b] = [{ a: 1 }, { b: 1 }];

  it('are one list, also when others come between', () => {
    const lists = new EqualLists<object>(2);
    const first = lists.of([a, b]);
    expect(lists.of([b])).not.toBe(first);
    expect(lists.of([a, b])).toBe(first);
    expect(lists.of([a, { ...b }])).not.toBe(first);
  });

  it('are forgotten when more different ones have come since than are kept', () => {
    const lists = new EqualLists<object>(2);
    const first = lists.of([a]);
    lists.of([b]);
    lists.of([a, b]);
    expect(lists.of([a])).not.toBe(first);
  });
});
