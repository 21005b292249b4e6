import { z } from 'zod';

import { duration } from '../shared/duration.ts';
import type { ParameterSchema } from '../shared/parameter-schema.ts';

export const WAIT_MS = 300_000;

const schema = z.object({ wait: duration.refine((ms) => ms <= 3_600_000, 'must be at most 1h').default(WAIT_MS) });

export const watchdogParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    wait: { description: 'How long one run waits at most; how long it must wait is reckoned from what the node attested.', default: '5m' },
  },
};
