import { describe, expect, it } from 'vitest';
import { COLOURED } from './ink.ts';
import { table } from './table.ts';
import { clipped, clippedLine, counted, harmless, padded, widthOf, wrapped } from './text.ts';
import { age, clockTime, duration } from './times.ts';

describe('a text of the API on a terminal', () => {
  it('can neither move the cursor, colour, ring, break lines nor turn the direction of writing', () => {
    const hostile = 'db\u001b[2J\u001b]0;title\u0007\r\nnext\u0000\u009b31m\u202egnp.exe';
    const shown = harmless(hostile);
    expect(shown).toBe('db\\x1b[2J\\x1b]0;title\\x07 next\\x00\\x9b31m\\x202egnp.exe');
    expect(shown).not.toMatch(/[\p{Cc}\u202e]/u);
  });

  it('leaves letters of all scripts as they are', () => {
    expect(harmless('Größe 数据库 данные 🔥')).toBe('Größe 数据库 данные 🔥');
  });

  it.each([
    ['node-1', 6],
    ['数据库', 6],
    ['e\u0301', 1],
    ['👩‍👩‍👧', 2],
    ['🔥', 2],
    ['…', 1],
    ['', 0],
  ])('%s takes its cells', (text, cells) => {
    expect(widthOf(text)).toBe(cells);
    expect(widthOf(padded(text, 9))).toBe(9);
  });

  it('is cut between letters, never within one, and never too long', () => {
    expect(clipped('数据库-1', 5)).toBe('数据…');
    expect(clipped('数据库-1', 4)).toBe('数…');
    expect(clipped('node', 4)).toBe('node');
    expect(clipped('node', 1)).toBe('…');
    expect(clipped('node', 0)).toBe('');
  });

  it('keeps the colours of a line that is cut, and ends them', () => {
    const line = `${COLOURED.bad('failed')} ${COLOURED.good('for good')}`;
    expect(clippedLine(line, 10)).toBe('\u001b[31mfailed\u001b[39m \u001b[32mfo…\u001b[0m');
    expect(clippedLine(line, 80)).toBe(line);
  });

  it('is broken at blanks, with an indent, within the width', () => {
    expect(wrapped('one two three four', 9, '  ')).toBe('one two\n  three\n  four');
    expect(wrapped('unbreakable', 4)).toBe('unbreakable');
  });

  it('counts in words', () => {
    expect([counted(1, 'pod'), counted(0, 'pod')]).toEqual(['1 pod', '0 pods']);
  });
});

describe('a table', () => {
  const columns = [
    { head: 'NODE', least: 6, givesWay: 1 },
    { head: 'READY', least: 5, givesWay: 0 },
    { head: 'DEVICE', least: 4, givesWay: 2 },
  ];
  const rows = [
    [{ text: 'ip-10-0-0-1.example' }, { text: 'Ready' }, { text: '10.0.0.17 plug 3' }],
    [{ text: '数据库' }, { text: '-' }, { text: 'x\u001b[2J' }],
  ];

  it('lets columns give way in their order where a line is too long, and keeps them in line', () => {
    const plain = (text: string): string => text;
    expect(table(columns, rows, plain)).toEqual([
      'NODE                 READY  DEVICE',
      'ip-10-0-0-1.example  Ready  10.0.0.17 plug 3',
      '数据库               -      x\\x1b[2J',
    ]);
    for (const width of [80, 40, 30, 24, 19]) for (const line of table(columns, rows, plain, width)) expect(widthOf(line)).toBeLessThanOrEqual(width);
    expect(table(columns, rows, plain, 34)[1]).toBe('ip-10-0-0-1.example  Ready  10.0.…');
    expect(table(columns, rows, plain, 24)[1]).toBe('ip-10-0-0-…  Ready  10.…');
  });
});

describe('times', () => {
  it.each([
    [0, '0s'],
    [340, '340ms'],
    [4_100, '4.1s'],
    [12_000, '12s'],
    [61_000, '1m1s'],
    [3_600_000, '1h'],
    [5_400_000, '1h30m'],
    [187_200_000, '2d4h'],
  ])('%d ms are %s', (ms, words) => {
    expect(duration(ms)).toBe(words);
  });

  it('show the day only when it is another one, and never what is no time', () => {
    const now = Date.UTC(2026, 2, 29, 2, 15);
    expect(clockTime('2026-03-29T02:13:27.500Z', now)).toBe('02:13:27Z');
    expect(clockTime('2026-03-28T23:59:59Z', now)).toBe('2026-03-28 23:59:59Z');
    expect(clockTime('soon', now)).toBe('?');
    expect(age('2026-03-29T02:13:27.500Z', now)).toBe('1m32s');
    expect(age('2026-03-29T03:00:00Z', now)).toBe('0s');
    expect(age(undefined, now)).toBe('?');
  });
});
