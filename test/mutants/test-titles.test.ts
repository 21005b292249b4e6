import { describe, expect, it } from 'vitest';
import { hasTest, isNamed } from './test-titles.ts';

const OTHER = 'test/mutants/mutants.test.ts';

function textOf(...strings: readonly string[]): Parameters<typeof isNamed>[1] {
  return { titles: strings.map((each) => each.split('%s')), values: strings };
}

describe('a test by the end of its name', () => {
  it('is found in its file, and not when it was renamed, moved or deleted', () => {
    expect(hasTest(OTHER, 'and each has a name of its own')).toBe(true);
    expect(hasTest(OTHER, 'the deliberate defects of the core are many, and each has a name')).toBe(true);
    expect(hasTest(OTHER, 'are many, and every one has a name of its own')).toBe(false);
    expect(hasTest('test/mutants/mutant.test.ts', 'and each has a name of its own')).toBe(false);
  });

  it.each(['keeps the Machine while it reads on, and tells it', 'Machine while it reads on', 'of a node keeps the Machine while 7 reads'])(
    'may be of a table, and begin and end anywhere: %s',
    (name) => {
      expect(isNamed(name, textOf('the end of a node', 'keeps the Machine while %s, and tells it', 'it reads on', '7 reads'))).toBe(true);
    },
  );

  it.each(['keeps the Machine while it reads off, and tells it', 'keeps a Machine while it reads on', 'anything at all'])(
    'is not another: %s',
    (name) => {
      expect(isNamed(name, textOf('the end of a node', 'keeps the Machine while %s, and tells it', 'it reads on', '%s: %s', '%s'))).toBe(false);
    },
  );
});
