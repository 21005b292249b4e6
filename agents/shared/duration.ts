import { z } from 'zod';

const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** As durations are written everywhere: `5s`, `30m`, `12h`, `365d`; a bare number is seconds. Milliseconds. */
export const duration = z
  .string()
  .regex(/^\d{1,9}[smhd]?$/, 'must be a duration such as 90s, 12h or 365d')
  .transform((text) => Number.parseInt(text, 10) * (UNITS_MS[text.at(-1) ?? ''] ?? 1_000));
