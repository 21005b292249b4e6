import { stripTypeScriptTypes } from 'node:module';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LEADERSHIP_MUTANTS } from '../simulation/leadership-mutants.ts';
import { MUTANTS } from '../simulation/mutants.ts';
import { SOURCE_MUTANTS } from './mutants.ts';
import { hasTest } from './test-titles.ts';
import { broken, filesOf } from './source-mutant.ts';

function textOf(file: string): string {
  return readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
}

describe('the deliberate defects of the core', () => {
  it('are many, and each has a name of its own', () => {
    const names = [...SOURCE_MUTANTS, ...MUTANTS, ...LEADERSHIP_MUTANTS].map(({ name }) => name);
    expect(names.length).toBeGreaterThanOrEqual(1_000);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(SOURCE_MUTANTS.map((mutant) => [mutant.name, mutant] as const))('still fit the source: %s', (_name, mutant) => {
    for (const file of filesOf(mutant)) {
      const sound = textOf(file);
      const defective = broken(mutant, file, sound);
      expect(defective).not.toBe(sound);
      // What can not be read is noticed by anybody, and proves nothing.
      expect(() => stripTypeScriptTypes(defective)).not.toThrow();
    }
  });

  it('name the test that must fail, where it is a test', () => {
    expect(SOURCE_MUTANTS.filter(({ killedBy }) => killedBy.kind === 'test' && killedBy.name === '')).toEqual([]);
  });

  it('name a test that there is, in a file that there is', { timeout: 60_000 }, () => {
    const missing = SOURCE_MUTANTS.flatMap(({ name, killedBy }) =>
      killedBy.kind === 'test' && !hasTest(killedBy.file, killedBy.name)
        ? [`${name}: ${killedBy.file} has no test ${JSON.stringify(killedBy.name)}`]
        : [],
    );
    expect(missing).toEqual([]);
  });

  it('refuse a source in which their text stands twice or not at all', () => {
    const mutant = { name: 'm', defect: 'd', file: 'f', edits: [['a', 'b']], killedBy: { kind: 'search' } } as const;
    expect(broken(mutant, 'f', 'xax')).toBe('xbx');
    expect(() => broken(mutant, 'f', 'xaxa')).toThrow('stands 2 times');
    expect(() => broken(mutant, 'f', 'x')).toThrow('stands 0 times');
  });
});
