import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lastMatch, nextMatch, parseCron } from './cron.ts';

const DAY_MS = 86_400_000;
const at = (text: string): number => Date.parse(`${text.replace(' ', 'T')}:00Z`);
const said = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

describe('a cron expression', () => {
  // 21 November 2026 is a Saturday.
  it.each<[cron: string, now: string, last: string | undefined, next: string]>([
    ['0 22 * * *', '2026-11-21 22:00', '2026-11-21 22:00', '2026-11-22 22:00'],
    ['0 22 * * *', '2026-11-21 21:59', '2026-11-20 22:00', '2026-11-21 22:00'],
    ['*/15 * * * *', '2026-11-21 12:14', '2026-11-21 12:00', '2026-11-21 12:15'],
    ['5/20 * * * *', '2026-11-21 12:14', '2026-11-21 12:05', '2026-11-21 12:25'],
    ['0 8-18/5 * * *', '2026-11-21 12:14', '2026-11-21 08:00', '2026-11-21 13:00'],
    ['0 1,3 * * *', '2026-11-21 02:00', '2026-11-21 01:00', '2026-11-21 03:00'],
    ['0 2 * * sat', '2026-11-21 12:00', '2026-11-21 02:00', '2026-11-28 02:00'],
    ['0 2 * * 6', '2026-11-21 12:00', '2026-11-21 02:00', '2026-11-28 02:00'],
    ['0 2 * * 0', '2026-11-21 12:00', '2026-11-15 02:00', '2026-11-22 02:00'],
    ['0 2 * * 7', '2026-11-21 12:00', '2026-11-15 02:00', '2026-11-22 02:00'],
    ['0 2 * * mon-fri', '2026-11-21 12:00', '2026-11-20 02:00', '2026-11-23 02:00'],
    ['0 0 1 * *', '2026-11-21 12:00', '2026-11-01 00:00', '2026-12-01 00:00'],
    ['0 0 1 jan *', '2026-11-21 12:00', '2026-01-01 00:00', '2027-01-01 00:00'],
    ['0 0 29 2 *', '2026-11-21 12:00', undefined, '2028-02-29 00:00'],
    ['0 0 13 * fri', '2026-11-21 12:00', '2026-11-20 00:00', '2026-11-27 00:00'],
    ['0 0 */2 * fri', '2026-11-21 12:00', '2026-11-13 00:00', '2026-11-27 00:00'],
    ['59 23 31 12 *', '2026-12-31 23:59', '2026-12-31 23:59', '2027-12-31 23:59'],
  ])('%s at %s', (text, now, last, next) => {
    const cron = parseCron(text)!;
    expect(said(lastMatch(cron, at(now), 365 * DAY_MS))).toBe(last);
    expect(said(nextMatch(cron, at(now)))).toBe(next);
  });

  it.each([
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * 32 * *',
    '* * * 13 *',
    '* * * * 8',
    '*/0 * * * *',
    '5-1 * * * *',
    'a * * * *',
    '1, * * * *',
    '* * * mon *',
    '-1 * * * *',
    '1.5 * * * *',
    '@daily',
  ])('%j is none', (text) => {
    expect(parseCron(text)).toBeUndefined();
  });

  it('a day that never comes is never found', () => {
    expect(nextMatch(parseCron('0 0 30 2 *')!, at('2026-11-21 12:00'))).toBeUndefined();
  });

  it('looks back no further than it is asked to', () => {
    const cron = parseCron('0 22 * * *')!;
    expect(lastMatch(cron, at('2026-11-22 06:00'), 8 * 3_600_000)).toBe(at('2026-11-21 22:00'));
    expect(lastMatch(cron, at('2026-11-22 06:01'), 8 * 3_600_000)).toBeUndefined();
  });

  it('between the last match and the next there is none', () => {
    const field = fc
      .integer({ min: 0, max: 59 })
      .chain((minute) => fc.tuple(fc.constant(minute), fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 7 })));
    fc.assert(
      fc.property(field, fc.integer({ min: 0, max: 40_000_000 }), ([minute, hour, weekday], minutes) => {
        const cron = parseCron(`${minute} ${hour} * * ${weekday}`)!;
        const now = minutes * 60_000;
        const last = lastMatch(cron, now, 7 * DAY_MS)!;
        const next = nextMatch(cron, now)!;
        expect(last).toBeLessThanOrEqual(now);
        expect(next).toBe(last + 7 * DAY_MS);
      }),
    );
  });
});
