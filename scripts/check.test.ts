import { describe, expect, it } from 'vitest';
import { checksOf } from './check.ts';

const namesOf = (files: readonly string[]): string[] => checksOf(files).map(({ name }) => name);

describe('the checks of a change', () => {
  it('always compile everything: what a change broke may stand in any file', () => {
    expect(namesOf([])).toEqual(['tsc']);
  });

  it('read the changed files alone otherwise, each by those tools that know its kind', () => {
    expect(namesOf(['docs/observe.md'])).toEqual(['tsc', 'prettier']);
    expect(namesOf(['scripts/run.mjs'])).toEqual(['eslint', 'tsc', 'prettier']);
    expect(namesOf(['src/main.ts'])).toEqual(['eslint', 'tsc', 'dependency-cruiser', 'prettier']);
    expect(checksOf(['src/main.ts', 'docs/observe.md']).find(({ name }) => name === 'eslint')?.parameters[0]).toBe('src/main.ts');
    expect(checksOf(['src/main.ts', 'docs/observe.md']).find(({ name }) => name === 'prettier')?.parameters).toContain('docs/observe.md');
  });
});
