import { describe, expect, it } from 'vitest';
import { parseTimezone, parseWindows } from './policies-windows.ts';

describe('windows as an admin writes them', () => {
  it.each<[text: string, found: [text: string, minutes: number][] | undefined]>([
    ['0 22 * * mon-fri 8h', [['0 22 * * mon-fri 8h', 480]]],
    [
      ' 0 22 * *  * 90m ; 0 0 * * 0,6 1d;',
      [
        ['0 22 * * * 90m', 90],
        ['0 0 * * 0,6 1d', 1440],
      ],
    ],
    ['', []],
    ['0 22 * * * 1m', [['0 22 * * * 1m', 1]]],
    ['0 22 * * * 31d', [['0 22 * * * 31d', 44_640]]],
    ['0 22 * * * 59s', undefined],
    ['0 22 * * * 32d', undefined],
    ['0 22 * * *', undefined],
    ['0 22 * * 8h', undefined],
    ['0 22 * * * 8h, 0 0 * * * 8h', undefined],
    ['0 22 * * * 8h; often', undefined],
  ])('%j', (text, found) => {
    expect(parseWindows(text)?.map((window) => [window.text, window.durationMs / 60_000])).toEqual(found);
  });
});

describe('a time zone', () => {
  it.each<[name: string, at: string, minutes: number | undefined]>([
    ['UTC', '2026-07-01T12:00:00Z', 0],
    ['Europe/Berlin', '2026-07-01T12:00:00Z', 120],
    ['Europe/Berlin', '2026-01-01T23:30:00Z', 60],
    ['Europe/Berlin', '2026-10-25T00:59:59Z', 120],
    ['Europe/Berlin', '2026-10-25T01:00:00Z', 60],
    ['Asia/Kolkata', '2026-12-31T20:00:00Z', 330],
    ['America/New_York', '2026-01-01T02:00:00Z', -300],
    ['Mars/Olympus', '2026-01-01T02:00:00Z', undefined],
    ['', '2026-01-01T02:00:00Z', undefined],
  ])('%s at %s is ahead of UTC by %s minutes', (name, at, minutes) => {
    const offset = parseTimezone(name)?.(Date.parse(at));
    expect(offset === undefined ? undefined : offset / 60_000).toBe(minutes);
  });

  it('is exact to the millisecond', () => {
    expect(parseTimezone('Europe/Berlin')?.(Date.parse('2026-07-01T12:00:00.987Z'))).toBe(7_200_000);
  });
});
