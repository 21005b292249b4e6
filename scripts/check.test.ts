import { describe, expect, it } from 'vitest';
import { checksOf } from './check.ts';

const namesOf = (files: readonly string[]): string[] => checksOf(files).map(({ name }) => name);

describe('the checks of a change', () => {
  it('always compile everything: what a change broke may stand in any file', () => {
    expect(namesOf([])).toEqual(['tsc and eslint']);
  });

  it('read the changed files alone otherwise, each by those tools that know its kind', () => {
    expect(namesOf(['docs/observe.md'])).toEqual(['tsc and eslint', 'prettier']);
    expect(namesOf(['scripts/run.mjs'])).toEqual(['tsc and eslint', 'prettier']);
    expect(namesOf(['src/main.ts'])).toEqual(['tsc and eslint', 'dependency-cruiser', 'prettier']);
    expect(checksOf(['src/main.ts', 'docs/observe.md']).find(({ name }) => name === 'tsc and eslint')?.parameters).toEqual(['src/main.ts']);
    expect(checksOf(['src/main.ts', 'docs/observe.md']).find(({ name }) => name === 'prettier')?.parameters).toContain('docs/observe.md');
  });
});
