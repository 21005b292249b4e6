import { z } from 'zod';

import type { Documentation } from './parameter-schema.ts';

/** Seconds, from the parameter of that name. */
export const bootTime = z
  .string()
  .regex(/^\d{1,4}(\.\d+)?$/, 'must be a number of seconds')
  .transform(Number)
  .default(180);

export const BOOT_TIME = {
  description:
    'No start of the device takes longer than these seconds. One that restarts while an off is proven, or has just started, may show a default state: its off counts once it has shown on, or for so long off.',
  default: '180',
} satisfies Documentation;
