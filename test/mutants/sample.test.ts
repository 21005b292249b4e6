import { describe, expect, it } from 'vitest';
import { SOURCE_MUTANTS } from './mutants.ts';
import { check } from './run.ts';
import { CHANGED_COUNT, MUTANTS_IN_VARIABLE, sampleOf, standingIn } from './sample.ts';

/** As many as take twenty seconds of one core. */
const COUNT = 4;
const TIMEOUT_MS = 240_000;
const date = process.env['NODEFENCE_MUTANTS_OF'] ?? new Date().toISOString().slice(0, 10);
const changed = process.env[MUTANTS_IN_VARIABLE];
const today =
  changed === undefined ? sampleOf(SOURCE_MUTANTS, date, COUNT) : sampleOf(standingIn(SOURCE_MUTANTS, changed.split(',')), date, CHANGED_COUNT);

describe(`the deliberate defects of ${date}`, () => {
  it.for(today.map((mutant) => [mutant.name, mutant] as const))(
    'are noticed by the tests that they name: %s',
    { timeout: TIMEOUT_MS },
    async ([, mutant], { skip }) => {
      const { killer, isSkipped } = await check(mutant.killedBy, mutant);
      if (isSkipped) skip('what its test needs is not installed here');
      expect(killer, `survived; once more: NODEFENCE_MUTANTS_OF=${date} npm test -- test/mutants/sample.test.ts`).toBeDefined();
    },
  );
});

describe('the sample of a day', () => {
  const names = (day: string): string[] => sampleOf(SOURCE_MUTANTS, day, COUNT).map(({ name }) => name);

  it('is the same whenever that day is asked for, and another on the next', () => {
    expect(names('2026-11-23')).toEqual(names('2026-11-23'));
    expect(names('2026-11-24').filter((name) => names('2026-11-23').includes(name))).toEqual([]);
  });

  it('leaves none out for ever', { timeout: TIMEOUT_MS }, () => {
    const all = SOURCE_MUTANTS.filter(({ killedBy }) => killedBy.kind === 'test');
    const days = Array.from({ length: Math.ceil(all.length / COUNT) }, (_, day) => new Date(day * 86_400_000).toISOString().slice(0, 10));
    expect(new Set(days.flatMap(names)).size).toBe(all.length);
  });

  it('of a change is drawn from the mutants that stand in its files', () => {
    const { file } = SOURCE_MUTANTS[0]!;
    const standing = standingIn(SOURCE_MUTANTS, [file]);
    expect(standing).toContain(SOURCE_MUTANTS[0]);
    expect(standing.length).toBeLessThan(SOURCE_MUTANTS.length);
    expect(standingIn(SOURCE_MUTANTS, ['no-such-file.ts'])).toEqual([]);
  });

  it('is of no word that is no date', () => {
    expect(() => names('tomorrow')).toThrow('no date like');
  });
});
