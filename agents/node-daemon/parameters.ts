import { z } from 'zod';

import { ORDERED_ACTIONS } from '../../src/domain/node-daemon/order.ts';
import { duration } from '../shared/duration.ts';
import type { ParameterSchema } from '../shared/parameter-schema.ts';

export const WAIT_MS = 30_000;

const schema = z.object({
  action: z.enum(ORDERED_ACTIONS, { error: `must be one of ${ORDERED_ACTIONS.join(', ')}` }),
  wait: duration.refine((ms) => ms >= 5_000 && ms <= 300_000, 'must be from 5s to 5m').default(WAIT_MS),
});

export const nodeDaemonParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    action: { description: `What the daemon is to do: ${ORDERED_ACTIONS.map((action) => `\`${action}\``).join(', ')}.`, required: true },
    wait: { description: 'How long one run waits at most until the daemon has said what became of it.', default: '30s' },
  },
};
