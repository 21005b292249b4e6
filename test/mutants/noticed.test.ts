import { describe, expect, it } from 'vitest';
import { mutantNamed } from './mutants.ts';
import { check } from './run.ts';

const TIMEOUT_MS = 120_000;

describe('the deliberate defects of the core', () => {
  // A search, a test of a device, a test of a storm; all of them are hunted by `npm run mutants`.
  it.each(['on under our taint', 'only the last plug', 'slot not reserved'])(
    'are noticed as they say: %s',
    async (name) => {
      const mutant = mutantNamed(name);
      expect((await check(mutant.killedBy, mutant)).killer).toBeDefined();
    },
    TIMEOUT_MS,
  );

  it(
    'are what is noticed: the sound core passes the same search',
    async () => {
      expect((await check({ kind: 'search' })).killer).toBeUndefined();
    },
    TIMEOUT_MS,
  );
});
