const UNITS_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1, us: 1e-3, µs: 1e-3, ns: 1e-6 };
const PART = /(\d+(?:\.\d*)?|\.\d+)(h|ms|m|s|us|µs|ns)/gy;

/** As Go prints a time.Duration, in whole milliseconds: `10m0s`, `1h30m0s`, `1.5s`, `300ms`, `0s`. */
export function goDuration(ms: number): string {
  if (ms === 0) return '0s';
  if (ms < 0) return `-${goDuration(-ms)}`;
  if (ms < 1_000) return `${ms}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor(ms / 60_000) % 60;
  const seconds = `${(ms % 60_000) / 1_000}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

/** Milliseconds of what metav1.Duration accepts: `5m`, `1h30m`, `1.5h`, `-10s`, `0`. Undefined when it is none. */
export function parseGoDuration(text: string): number | undefined {
  const [, sign = '', body = ''] = /^([+-]?)(.*)$/.exec(text) ?? [];
  if (body === '0') return 0;
  let ms = 0;
  let end = 0;
  for (const part of body.matchAll(PART)) {
    ms += Number(part[1]) * (UNITS_MS[part[2] ?? ''] ?? 0);
    end = part.index + part[0].length;
  }
  if (body === '' || end !== body.length) return undefined;
  const whole = Math.round(ms);
  return sign === '-' ? -whole : whole;
}
