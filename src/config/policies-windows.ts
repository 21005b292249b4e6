import { parseCron } from '../domain/policies/cron.ts';
import { UTC } from '../domain/policies/windows.ts';
import type { UtcOffset, Window } from '../domain/policies/windows.ts';
import { parseDuration } from './properties.ts';

const DURATION_MIN_MS = 60_000;
const DURATION_MAX_MS = 31 * 86_400_000;

/** `0 22 * * mon-fri 8h; 0 0 * * sat,sun 24h`: five fields of cron and how long it stays open, several joined by semicolons. Undefined for anything else. */
export function parseWindows(text: string): readonly Window[] | undefined {
  const found = text
    .split(';')
    .filter((part) => part.trim() !== '')
    .map((part) => parseWindow(part.trim()));
  return found.every((window) => window !== undefined) ? found : undefined;
}

function parseWindow(text: string): Window | undefined {
  const fields = text.split(/\s+/);
  const cron = parseCron(fields.slice(0, -1).join(' '));
  const durationMs = parseDuration(fields.at(-1) ?? '');
  if (cron === undefined || durationMs === undefined || durationMs < DURATION_MIN_MS || durationMs > DURATION_MAX_MS) return undefined;
  return { cron, durationMs, text: fields.join(' ') };
}

/** By how much the clocks of a time zone (`Europe/Berlin`) are ahead of UTC; undefined for a name that is none. */
export function parseTimezone(name: string): UtcOffset | undefined {
  if (/^(utc|gmt|z)$/i.test(name)) return UTC;
  const format = formatOf(name);
  if (format === undefined) return undefined;
  return (wallMs) => {
    const seconds = Math.floor(wallMs / 1000);
    const parts = new Map(format.formatToParts(new Date(seconds * 1000)).map(({ type, value }) => [type, Number(value)]));
    const at = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    return Date.UTC(at('year'), at('month') - 1, at('day'), at('hour'), at('minute'), at('second')) - seconds * 1000;
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  const numeric = 'numeric';
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: numeric,
      month: numeric,
      day: numeric,
      hour: numeric,
      minute: numeric,
      second: numeric,
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
