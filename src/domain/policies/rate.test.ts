import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Implications } from '../testing/implications.ts';
import { DEFAULT_RATE, rate } from './rate.ts';
import { heldBy, holdOf, node, nodes, NOW_MS, SLOT, view } from './testing/views.ts';
import type { StormView } from './view.ts';

const MINUTE_MS = 60_000;
const policy = rate({ name: 'rate', ...DEFAULT_RATE });
const startsAgo = (...minutes: number[]): StormView['starts'] =>
  minutes.map((ago, index) => ({ node: `x${index}`, atMs: NOW_MS - ago * MINUTE_MS })).toSorted((one, other) => one.atMs - other.atMs);

describe('rate', () => {
  it.each<[what: string, minutesAgo: number[], untilMinutes: number | undefined]>([
    ['nothing began', [], undefined],
    ['four began', [1, 2, 3, 4], undefined],
    ['five began: until the first of them is ten minutes old', [1, 2, 3, 4, 5], 5],
    ['the fifth is just ten minutes old', [1, 2, 3, 4, 10], undefined],
    ['the fifth is a breath short of ten minutes', [1, 2, 3, 4, 9.999], 0.001],
    ['seven began, though five may: until the third of them is ten minutes old', [1, 2, 3, 4, 5, 6, 7], 5],
  ])('%s', (_what, minutesAgo, untilMinutes) => {
    const found = holdOf(policy, view(nodes(1), { starts: startsAgo(...minutesAgo) }));
    expect(found?.untilMs).toEqual(untilMinutes === undefined ? undefined : NOW_MS + untilMinutes * MINUTE_MS);
    expect(found?.reason).toBe(untilMinutes === undefined ? undefined : 'rate');
  });

  it('says how many, and when it ends', () => {
    const message = '5 fences began in the last 10 min, 5 may';
    expect(holdOf(policy, view(nodes(1), { starts: startsAgo(1, 2, 3, 4, 5) }))).toMatchObject({ message, untilMs: NOW_MS + 5 * MINUTE_MS });
  });

  it('what has begun goes on', () => {
    expect(heldBy(policy, view([node('a', { fence: SLOT }), node('b')], { starts: startsAgo(1, 2, 3, 4, 5) }))).toEqual(['b']);
  });

  it('counts its scope only, and nodes that are gone', () => {
    const scoped = rate({ name: 'rate', max: 1, windowMs: MINUTE_MS, scope: ({ rack }) => rack === 'r1' });
    const all = [node('in', { labels: { rack: 'r1' } }), node('out')];
    const began = (name: string): StormView['starts'] => [{ node: name, atMs: NOW_MS - 1 }];
    expect(heldBy(scoped, view(all, { starts: began('out') }))).toEqual([]);
    expect(heldBy(scoped, view(all, { starts: began('in') }))).toEqual(['in']);
    expect(heldBy(scoped, view(all, { starts: began('gone') }))).toEqual(['in']);
  });

  it('lets go exactly when it said it would', () => {
    const laws = new Implications('held');
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 1_200_000 }), { maxLength: 12 }), fc.integer({ min: 1, max: 6 }), (ages, max) => {
        const one = rate({ name: 'rate', max, windowMs: 600_000 });
        const starts = ages.map((age) => ({ node: 'x', atMs: NOW_MS - age }));
        laws.where('held', holdOf(one, view(nodes(1), { starts }))?.untilMs, (untilMs) => {
          expect(untilMs).toBeGreaterThan(NOW_MS);
          expect(holdOf(one, view(nodes(1), { starts, nowMs: untilMs - 1 }))).toBeDefined();
          expect(holdOf(one, view(nodes(1), { starts, nowMs: untilMs }))).toBeUndefined();
        });
      }),
    );
    expect(laws.neverGiven).toEqual([]);
  });
});
