import { z } from 'zod';

import { UNFENCE_MS } from '../../src/domain/program.ts';
import { duration } from '../shared/duration.ts';
import type { ParameterSchema } from '../shared/parameter-schema.ts';

const schema = z.object({ wait: duration.refine((ms) => ms <= 1_800_000, 'must be at most 30m').default(UNFENCE_MS) });

export const unfenceParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: { wait: { description: "How long one run waits for the node's daemon at most.", default: '2m' } },
};
