import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LINE_MAX, lineOf, quoted, unknown } from './verdict.ts';

it('a line is one line of printable ASCII within what node-problem-detector takes', () => {
  fc.assert(
    fc.property(fc.uint16Array({ maxLength: 300 }), (units) => {
      const sentence = String.fromCharCode(...units);
      expect(lineOf(unknown(sentence))).toMatch(/^[\x20-\x7e]{1,80}$/);
      expect(quoted(sentence, 20)).toMatch(/^[\x20-\x7e]{0,20}$/);
    }),
  );
});

it('a line that fits is said as it is, and a longer one ends with dots', () => {
  expect(lineOf({ health: 'ok', sentence: 'x'.repeat(LINE_MAX) })).toBe('x'.repeat(LINE_MAX));
  expect(lineOf({ health: 'ok', sentence: 'x'.repeat(LINE_MAX + 1) })).toBe(`${'x'.repeat(LINE_MAX - 3)}...`);
});
