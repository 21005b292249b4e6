import { describe, expect, it } from 'vitest';
import { checksOf } from './check.ts';

const namesOf = (files: readonly string[]): string[] => checksOf(files).map(({ name }) => name);

describe('the checks of a change', () => {
  it('always compile everything: what a change broke may stand in any file', () => {
    expect(namesOf([])).toEqual(['types and oxlint']);
  });

  it('read the changed files alone otherwise, each by those tools that know its kind', () => {
    expect(namesOf(['docs/observe.md'])).toEqual(['types and oxlint', 'oxfmt']);
    expect(namesOf(['scripts/run.mjs'])).toEqual(['types and oxlint', 'oxfmt']);
    expect(namesOf(['src/main.ts'])).toEqual(['types and oxlint', 'dependency-cruiser', 'oxfmt']);
    expect(checksOf(['src/main.ts', 'docs/observe.md']).find(({ name }) => name === 'types and oxlint')?.parameters).toEqual(['.']);
    expect(checksOf(['src/main.ts', 'docs/observe.md']).find(({ name }) => name === 'oxfmt')?.parameters).toContain('docs/observe.md');
  });
});
