import { describe, expect, it } from 'vitest';
import { testOptions } from './test-options.ts';

const NONE = { changed: undefined, hasTimes: false, isHelp: false, filters: [] };

describe('the options of npm test', () => {
  it.each([
    [[], NONE],
    [['--', 'src/config'], { ...NONE, filters: ['src/config'] }],
    [['src/config', '-t', 'a name'], { ...NONE, filters: ['src/config', '-t', 'a name'] }],
    [['--changed'], { ...NONE, changed: { since: undefined } }],
    [['--changed', 'HEAD~2'], { ...NONE, changed: { since: 'HEAD~2' } }],
    [['--changed=main', '--times'], { ...NONE, changed: { since: 'main' }, hasTimes: true }],
    [['--changed', '--times'], { ...NONE, changed: { since: undefined }, hasTimes: true }],
    [['--help'], { ...NONE, isHelp: true }],
  ])('%j', (words, options) => {
    expect(testOptions(words)).toEqual(options);
  });
});
