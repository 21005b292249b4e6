import { z } from 'zod';

import { duration } from '../shared/duration.ts';
import type { ParameterSchema } from '../shared/parameter-schema.ts';

export const WAIT_MS = 30_000;

const schema = z.object({
  wait: duration.refine((ms) => ms <= 3_600_000, 'must be at most 1h').default(WAIT_MS),
  unheard: z.enum(['continue', 'fail']).default('continue'),
});

export const kdumpParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    wait: { description: 'How long messages are waited for at most.', default: '30s', aliases: ['timeout'] },
    unheard: {
      description:
        'What becomes of the run when no dump is heard: `continue` with the step, or `fail`. A level of power-management that has no off fails in either case, so that the next one is tried.',
      default: 'continue',
    },
  },
};
