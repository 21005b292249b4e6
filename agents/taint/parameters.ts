import { z } from 'zod';

import type { ParameterSchema } from '../shared/parameter-schema.ts';

/** The release taint is the core's alone: it frees the workload, and only evidence may do that (P1). */
const RELEASE_TAINT = 'node.kubernetes.io/out-of-service';
const QUALIFIED_NAME = /^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;
const VALUE = /^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$/;

const schema = z.object({
  key: z
    .string()
    .regex(QUALIFIED_NAME, 'must be a qualified name such as example.org/fenced')
    .refine((key) => key !== RELEASE_TAINT, `must not be ${RELEASE_TAINT}: that taint frees the workload and is set on evidence alone`)
    .default('nodefence.ha.k8s.io/fenced'),
  value: z.string().regex(VALUE, 'must be at most 63 letters, digits, dashes, dots and underscores').default('true'),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute'], 'must be NoSchedule, PreferNoSchedule or NoExecute').default('NoSchedule'),
  state: z.enum(['present', 'absent'], 'must be present or absent').default('present'),
});

export const taintParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    key: { description: 'Key of the taint.', default: 'nodefence.ha.k8s.io/fenced' },
    value: { description: 'Value of the taint.', default: 'true' },
    effect: { description: 'NoSchedule, PreferNoSchedule or NoExecute.', default: 'NoSchedule' },
    state: { description: '`present` sets the taint, `absent` takes back the one this fence set.', default: 'present' },
  },
};

export type TaintParameters = z.infer<typeof schema>;
