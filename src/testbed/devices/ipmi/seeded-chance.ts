import type { Random } from '../../../ports/random.ts';

/** The same numbers for the same seed (mulberry32), so that lost datagrams are lost again in the next run. */
export function seededChance(seed: number): Pick<Random, 'next'> {
  let state = seed >>> 0;
  return {
    next: () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    },
  };
}
