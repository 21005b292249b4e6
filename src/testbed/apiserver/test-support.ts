import type { Clock } from '../../ports/clock.ts';
import type { Random } from '../../ports/random.ts';

/** A clock that a test moves by hand. */
export interface TestClock extends Clock {
  advance(deltaMs: number): void;
}

export function testClock(): TestClock {
  let now = 0;
  const unsupported = (): never => {
    throw new Error('the API server sets no timers');
  };
  return {
    monotonicMs: () => now,
    bootMs: () => now,
    wallMs: () => 1_700_000_000_000 + now,
    after: unsupported,
    sleep: unsupported,
    advance(deltaMs) {
      now += deltaMs;
    },
  };
}

/** A small linear congruential generator: the same numbers in every run. */
export function testRandom(seed = 1): Random {
  let state = seed;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const digits = (count: number): string => Array.from({ length: count }, () => Math.floor(next() * 16).toString(16)).join('');
  return { next, uuid: () => `${digits(8)}-${digits(4)}-4${digits(3)}-8${digits(3)}-${digits(12)}` };
}
