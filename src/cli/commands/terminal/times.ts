const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** `340ms`, `12s`, `5m`, `1h30m`, `2d4h`: the two greatest units. */
export function duration(ms: number): string {
  const rounded = Math.max(0, Math.round(ms));
  if (rounded < 1_000) return rounded === 0 ? '0s' : `${rounded}ms`;
  if (rounded < 10_000 && rounded % 1_000 !== 0) return `${Number((rounded / 1_000).toFixed(1))}s`;
  let rest = Math.round(rounded / 1_000) * 1_000;
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0 || parts.length > 0) parts.push(count === 0 ? '' : `${count}${unit}`);
    if (parts.length === 2) break;
  }
  return parts.join('');
}

/** The age of a time stamp; `?` for one that is none. */
export function age(time: string | undefined, nowMs: number): string {
  const at = Date.parse(time ?? '');
  return Number.isNaN(at) ? '?' : duration(wholeSeconds(Math.max(0, nowMs - at)));
}

/** `02:13:27Z`, with the day when it is another one than today's. */
export function clockTime(time: string | number | undefined, nowMs: number): string {
  const at = typeof time === 'number' ? time : Date.parse(time ?? '');
  if (Number.isNaN(at) || !Number.isFinite(at)) return '?';
  const text = new Date(at).toISOString();
  const today = new Date(nowMs).toISOString().slice(0, 10);
  const clock = `${text.slice(11, 19)}Z`;
  return text.startsWith(today) ? clock : `${text.slice(0, 10)} ${clock}`;
}

/** `02:13:27Z (1m48s ago)`. */
export function moment(time: string | undefined, nowMs: number): string {
  return time === undefined ? '?' : `${clockTime(time, nowMs)} (${age(time, nowMs)} ago)`;
}

/** `02:13:27Z (in 1m48s)`, or that it is over. */
export function coming(time: string | number, nowMs: number): string {
  const inMs = (typeof time === 'number' ? time : Date.parse(time)) - nowMs;
  return `${clockTime(time, nowMs)} (${inMs > 0 ? `in ${duration(Math.ceil(inMs / 1_000) * 1_000)}` : 'over'})`;
}

/** From one time stamp to another; undefined when one is none. */
export function between(from: string | undefined, to: string | undefined): number | undefined {
  const ms = Date.parse(to ?? '') - Date.parse(from ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

function wholeSeconds(ms: number): number {
  return ms < 1_000 ? 0 : Math.floor(ms / 1_000) * 1_000;
}
