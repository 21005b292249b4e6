import { describe, expect, it } from 'vitest';
import { pictureOf } from './picture.ts';
import { linesOf } from './terminal.ts';

const none = (): boolean => false;

describe('a captured terminal', () => {
  it('keeps the style of each run and the column at which it stands', () => {
    expect(linesOf('a \u001b[1mb\u001b[0m  \u001b[2m\u001b[32mc\u001b[39m\u001b[22m', 40, none)).toEqual([
      [
        { text: 'a ', column: 0, bold: false, dim: false, colour: 'plain' },
        { text: 'b', column: 2, bold: true, dim: false, colour: 'plain' },
        { text: 'c', column: 5, bold: false, dim: true, colour: 'green' },
      ],
    ]);
  });

  it('wraps a long line between words, with the rest indented', () => {
    const lines = linesOf('one two three', 8, none);
    expect(lines.map((line) => line.map(({ column, text }) => `${column}:${text}`))).toEqual([['0:one two'], ['4:thre'], ['4:e']]);
  });

  it('leaves out what is omitted, but not the style that it sets', () => {
    const lines = linesOf('\n\u001b[31momitted\nkept\n\n', 40, (text) => text === 'omitted');
    expect(lines).toEqual([[{ text: 'kept', column: 0, bold: false, dim: false, colour: 'red' }]]);
  });

  it('is drawn with every character that means something in XML escaped', () => {
    expect(pictureOf(linesOf('a <b> & c', 40, none), 40)).toContain('a &lt;b&gt; &amp; c</tspan>');
  });
});
