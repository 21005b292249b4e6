import { describe, expect, it } from 'vitest';
import { labelsFor, parseSelector, selects } from './selector.ts';

const LABELS = { rack: 'r1', 'example.com/type': 'bare', empty: '' };

describe('a node_selector', () => {
  it.each<[text: string, selected: boolean | undefined]>([
    ['rack=r1', true],
    ['rack==r1', true],
    ['rack=r2', false],
    ['other=r1', false],
    ['empty=', true],
    ['rack!=r2', true],
    ['rack!=r1', false],
    ['other!=r1', true],
    ['rack in (r0, r1)', true],
    ['rack in (r0,r2)', false],
    ['other in (r1)', false],
    ['rack notin (r0,r2)', true],
    ['rack notin (r1)', false],
    ['other notin (r1)', true],
    ['rack', true],
    ['other', false],
    ['!other', true],
    ['!rack', false],
    ['rack in (r1,r2),example.com/type=bare, !other', true],
    ['rack in (r1,r2),example.com/type=virtual', false],
    ['toString', false],
    ['', undefined],
    ['rack=r1,', undefined],
    ['rack in r1', undefined],
    ['rack>1', undefined],
    ['-rack=r1', undefined],
    ['rack=r1 r2', undefined],
  ])('%s', (text, selected) => {
    const parsed = parseSelector(text);
    expect(parsed === undefined ? undefined : selects(parsed, LABELS)).toBe(selected);
  });

  it('has an example that it selects', () => {
    const parsed = parseSelector('rack in (r1,r2),type,!gone,zone!=a') ?? [];
    expect(labelsFor(parsed)).toEqual({ rack: 'r1', type: '' });
    expect(selects(parsed, labelsFor(parsed))).toBe(true);
  });
});
