/** When a window opens: minutes and hours of the days that match. */
export interface Cron {
  minutes: readonly number[];
  hours: readonly number[];
  isDay: (day: { month: number; dayOfMonth: number; dayOfWeek: number }) => boolean;
}

interface Field {
  minimum: number;
  maximum: number;
  names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const MINUTE: Field = { minimum: 0, maximum: 59 };
const HOUR: Field = { minimum: 0, maximum: 23 };
const DAY_OF_MONTH: Field = { minimum: 1, maximum: 31 };
const MONTH: Field = { minimum: 1, maximum: 12, names: MONTHS };
const DAY_OF_WEEK: Field = { minimum: 0, maximum: 7, names: WEEKDAYS };
const PART = /^(?:(\*)|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:\/(\d+))?$/;

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** 29 February comes again after eight years at most. */
const HORIZON_DAYS = 366 * 8 + 1;

/** Five fields as in crontab(5): minute, hour, day of month, month, day of week; `*`, `a`, `a-b`, `a,b`, `/n`, names of months and days, 7 for Sunday. Undefined for anything else. */
export function parseCron(text: string): Cron | undefined {
  const fields = text.trim().toLowerCase().split(/\s+/);
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields;
  if (fields.length !== 5 || dayOfMonth === undefined || dayOfWeek === undefined) return undefined;
  const minutes = values(minute, MINUTE);
  const hours = values(hour, HOUR);
  const months = values(month, MONTH);
  const daysOfMonth = values(dayOfMonth, DAY_OF_MONTH);
  const daysOfWeek = values(dayOfWeek, DAY_OF_WEEK);
  if (!minutes || !hours || !months || !daysOfMonth || !daysOfWeek) return undefined;
  const weekdays = new Set([...daysOfWeek].map((day) => day % 7));
  // Where both kinds of day are restricted either will do; a field that begins with a star restricts nothing by itself.
  const isEither = !dayOfMonth.startsWith('*') && !dayOfWeek.startsWith('*');
  return {
    minutes: [...minutes].toSorted((one, other) => one - other),
    hours: [...hours].toSorted((one, other) => one - other),
    isDay: (day) => {
      if (!months.has(day.month)) return false;
      const [byMonth, byWeek] = [daysOfMonth.has(day.dayOfMonth), weekdays.has(day.dayOfWeek)];
      return isEither ? byMonth || byWeek : byMonth && byWeek;
    },
  };
}

function values(text: string | undefined, field: Field): Set<number> | undefined {
  const all = new Set<number>();
  for (const part of (text ?? '').split(',')) {
    const [, star, from = '', to, stepText] = PART.exec(part) ?? [];
    const first = star === undefined ? numberOf(from, field) : field.minimum;
    const single = stepText === undefined ? first : field.maximum;
    const last = star === undefined ? (to === undefined ? single : numberOf(to, field)) : field.maximum;
    const step = Number(stepText ?? 1);
    if (first === undefined || last === undefined || last < first || step < 1) return undefined;
    for (let value = first; value <= last; value += step) all.add(value);
  }
  return all;
}

function numberOf(text: string, { minimum, maximum, names }: Field): number | undefined {
  const named = names?.indexOf(text) ?? -1;
  if (named >= 0) return named + (names === MONTHS ? 1 : 0);
  const number = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return number >= minimum && number <= maximum ? number : undefined;
}

/** The last minute at or before `localMs` at which it matches, no earlier than `withinMs` before. Times are those of a clock on the wall, as if it showed UTC. */
export function lastMatch(cron: Cron, localMs: number, withinMs: number): number | undefined {
  for (let day = Math.floor(localMs / DAY_MS) * DAY_MS; day > localMs - withinMs - DAY_MS; day -= DAY_MS) {
    const found = timesOn(cron, day).findLast((at) => at <= localMs);
    if (found !== undefined) return found >= localMs - withinMs ? found : undefined;
  }
  return undefined;
}

/** The first minute after `localMs` at which it matches; undefined where there is none (30 February). */
export function nextMatch(cron: Cron, localMs: number): number | undefined {
  const today = Math.floor(localMs / DAY_MS) * DAY_MS;
  for (let index = 0; index < HORIZON_DAYS; index += 1) {
    const found = timesOn(cron, today + index * DAY_MS).find((at) => at > localMs);
    if (found !== undefined) return found;
  }
  return undefined;
}

function timesOn({ minutes, hours, isDay }: Cron, dayMs: number): number[] {
  const date = new Date(dayMs);
  if (!isDay({ month: date.getUTCMonth() + 1, dayOfMonth: date.getUTCDate(), dayOfWeek: date.getUTCDay() })) return [];
  return hours.flatMap((hour) => minutes.map((minute) => dayMs + hour * HOUR_MS + minute * MINUTE_MS));
}
