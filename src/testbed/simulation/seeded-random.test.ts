import { describe, expect, it } from 'vitest';
import { SeededRandom } from './seeded-random.ts';

describe('the seeded random', () => {
  const draws = (seed: number, stream: string): number[] => {
    const random = new SeededRandom(seed, stream);
    return Array.from({ length: 8 }, () => random.uint32());
  };

  it('repeats itself for one seed and stream, and differs for any other', () => {
    expect(draws(5, 'a')).toEqual(draws(5, 'a'));
    expect(draws(5, 'a')).not.toEqual(draws(5, 'b'));
    expect(draws(5, 'a')).not.toEqual(draws(6, 'a'));
  });

  it('spreads evenly over neighbouring seeds', () => {
    const buckets = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for (let seed = 0; seed < 10_000; seed++) {
      const bucket = new SeededRandom(seed, 'x').below(10);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
    expect(Math.min(...buckets)).toBeGreaterThan(880);
    expect(Math.max(...buckets)).toBeLessThan(1120);
  });

  it('gives identifiers of RFC 9562 shape that do not repeat', () => {
    const random = new SeededRandom(1);
    const identifiers = Array.from({ length: 1000 }, () => random.uuid());
    expect(new Set(identifiers).size).toBe(1000);
    expect(identifiers.every((one) => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/.test(one))).toBe(true);
  });

  it('chooses by weight and never what weighs nothing', () => {
    const random = new SeededRandom(2);
    const counts = { often: 0, seldom: 0, never: 0 };
    for (let draw = 0; draw < 4000; draw++) {
      counts[random.weighted({ often: 3, seldom: 1, never: 0 })] += 1;
    }
    expect(counts.never).toBe(0);
    expect(counts.often / counts.seldom).toBeGreaterThan(2.5);
    expect(counts.often / counts.seldom).toBeLessThan(3.5);
  });
});
